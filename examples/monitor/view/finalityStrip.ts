import { type EpochFinality, finalityShare } from '../model/finality.ts'
import { formatCount, formatTime } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import { byId, setText, svg } from './dom.ts'

const HEIGHT = 44
const BAR_TOP = 16
const BAR_HEIGHT = 20
/** Epochs beyond the boundary that are shown. */
const BEYOND = 4
/** More do not fit: without enough blocks the boundary is 900 epochs away. */
const MOST_CELLS = 120

function riskText({ bits, isFinal, depth }: EpochFinality): string {
  if (isFinal) return 'final'
  if (depth === 0) return 'head'
  return bits < 1 ? 'open' : `reorganised with a chance of 1 in 2^${Math.floor(bits)}`
}

/**
 * How final the newest epochs are: one cell for each, the head at the left, the boundary below which all is final at the
 * right. The darker, the less likely it is that the epoch is reorganised away.
 */
export class FinalityStrip {
  readonly #monitor: Monitor
  readonly #root: SVGElement

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    this.#root = svg('svg', { class: 'finality-strip', height: HEIGHT, role: 'img', 'aria-label': 'Finality' })
    const box = byId('finality-strip')
    box.append(this.#root)
    new ResizeObserver(() => this.show()).observe(box)
  }

  show(): void {
    const width = Math.floor(byId('finality-strip').clientWidth)
    const { head, finality, window, news } = this.#monitor
    const read = byId('finality-read')
    if (width === 0) return
    this.#root.setAttribute('width', String(width))
    this.#root.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`)
    if (head === undefined || window === undefined) {
      this.#root.replaceChildren(svg('rect', { x: 0, y: BAR_TOP, width, height: BAR_HEIGHT, class: 'bone-bar', rx: 4 }))
      setText(read, '')
      return
    }
    const depth = finality?.depth
    const isHard = depth === undefined || depth > MOST_CELLS
    const cells = Math.min(isHard ? MOST_CELLS : depth + BEYOND, head.height + 1)
    const step = width / cells
    const heights = new Map(window.tipsets.slice(-cells - 1).map((tipset) => [tipset.height, tipset]))
    const parts: Node[] = []
    for (let i = 0; i < cells; i++) {
      const height = head.height - i
      const tipset = heights.get(height)
      const state = finality?.at(height)
      const gap = step > 4 ? 1 : 0
      const cell = svg('rect', {
        x: (i * step).toFixed(2),
        y: BAR_TOP,
        width: Math.max(1, step - gap).toFixed(2),
        height: BAR_HEIGHT,
        class: tipset === undefined ? 'cell is-null' : state?.isFinal === true ? 'cell is-final' : 'cell',
        'fill-opacity': (0.12 + 0.88 * (state === undefined ? 0 : finalityShare(state))).toFixed(2),
      })
      const title = svg('title')
      title.textContent = `${formatCount(height)}: ${tipset === undefined ? 'null round' : `${formatTime(tipset.timestamp)}, ${state === undefined ? 'blocks are counted' : riskText(state)}`}`
      cell.append(title)
      parts.push(cell)
    }
    parts.push(label('head', 0, 'start'))
    if (!isHard && depth < head.height) parts.push(...this.#mark('final', depth * step, width, 'final-mark'))
    const { f3Epoch } = news
    if (f3Epoch !== undefined && f3Epoch <= head.height) {
      const at = head.height - f3Epoch
      if (at < cells) parts.push(...this.#mark('F3', at * step, width, 'f3-mark'))
    }
    this.#root.replaceChildren(...parts)
    const boundary =
      depth === undefined
        ? 'blocks are being counted'
        : isHard
          ? `final after ${formatCount(depth)} epochs: too few blocks to say less`
          : `final ${formatCount(depth)} epochs below the head`
    const f3 =
      f3Epoch === undefined
        ? ''
        : f3Epoch > head.height
          ? '; F3 is ahead of the head'
          : `; F3 ${formatCount(head.height - f3Epoch)} below`
    setText(read, boundary + f3)
    this.#root.setAttribute(
      'aria-label',
      `Finality from the head at ${formatCount(head.height)} down: ${boundary}${f3}`,
    )
  }

  #mark(text: string, x: number, width: number, kind: string): Node[] {
    const at = Math.min(width - 1, Math.max(1, x))
    const anchor = at > width - 40 ? 'end' : 'start'
    return [
      svg('line', { x1: at, x2: at, y1: 2, y2: BAR_TOP + BAR_HEIGHT + 6, class: kind }),
      label(text, anchor === 'end' ? at - 4 : at + 4, anchor, kind === 'f3-mark' ? HEIGHT - 1 : 11),
    ]
  }
}

function label(text: string, x: number, anchor: string, y: number = 11): SVGElement {
  const element = svg('text', { x, y, class: 'axis', 'text-anchor': anchor })
  element.textContent = text
  return element
}
