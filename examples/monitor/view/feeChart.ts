/**
 * The base fee over the newest epochs, as SVG. Read by pointer or by the arrow keys. The scale is logarithmic: a fee changes by
 * up to an eighth of itself per epoch, so the same slope is the same pressure at any height.
 */
import type { TipsetView } from '../model/chainWindow.ts'
import { formatCount, formatGasPrice } from '../model/format.ts'
import { CHART_EPOCHS, type Monitor } from '../model/monitor.ts'
import { byId, setText, svg } from './dom.ts'

const HEIGHT = 168
const TOP = 10
const BOTTOM = 24
const RIGHT = 8
const LEFT = 52
const GRID_LINES = 3
/** AttoFIL on the axis: `62.1M`. */
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })
/** A change by less than this factor fills only part of the height: a ripple must not look like a storm. */
const LEAST_FACTOR = 1.3

interface Scale {
  readonly width: number
  readonly first: number
  readonly last: number
  readonly low: number
  readonly high: number
}

function xOf({ width, first, last }: Scale, epoch: number): number {
  return LEFT + ((width - LEFT - RIGHT) * (epoch - first)) / Math.max(1, last - first)
}

function yOf({ low, high }: Scale, fee: number): number {
  return TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.log(fee / low) / Math.log(high / low))
}

function scaleOf(points: readonly TipsetView[], width: number): Scale {
  const fees = points.map(({ baseFee }) => Number(baseFee))
  const least = Math.max(1, Math.min(...fees))
  const most = Math.max(1, ...fees)
  const pad = Math.sqrt(Math.max(1.15, LEAST_FACTOR / (most / least)))
  const last = (points.at(-1) as TipsetView).height
  return { width, first: last - CHART_EPOCHS + 1, last, low: least / pad, high: most * pad }
}

/** See the file's comment. */
export class FeeChart {
  readonly #monitor: Monitor
  readonly #root: SVGElement
  readonly #cursor: SVGElement
  readonly #plot: SVGElement
  #points: readonly TipsetView[] = []
  #scale: Scale | undefined
  /** Epoch under the cursor; undefined: the newest. */
  #chosen: number | undefined

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    this.#plot = svg('g')
    this.#cursor = svg('g', { class: 'cursor' })
    this.#root = svg(
      'svg',
      {
        class: 'fee',
        height: HEIGHT,
        tabindex: 0,
        role: 'slider',
        'aria-label': 'Base fee by epoch',
        'aria-orientation': 'horizontal',
      },
      this.#plot,
      this.#cursor,
    )
    const box = byId('fee-chart')
    box.append(this.#root)
    new ResizeObserver(() => this.show()).observe(box)
    this.#root.addEventListener('pointermove', (event) => this.#point(event as PointerEvent))
    this.#root.addEventListener('pointerleave', () => this.#choose(undefined))
    this.#root.addEventListener('blur', () => this.#choose(undefined))
    this.#root.addEventListener('keydown', (event) => this.#key(event as KeyboardEvent))
  }

  show(): void {
    const width = Math.floor(byId('fee-chart').clientWidth)
    const { head, window } = this.#monitor
    if (width === 0) return
    this.#root.setAttribute('width', String(width))
    this.#root.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`)
    if (head === undefined || window === undefined) return
    const first = head.height - CHART_EPOCHS + 1
    this.#points = window.tipsets.filter(({ height }) => height >= first)
    this.#scale = scaleOf(this.#points, width)
    this.#plot.replaceChildren(...this.#draw(this.#scale))
    this.#showCursor()
  }

  #draw(scale: Scale): Node[] {
    const out: Node[] = []
    for (let i = 0; i < GRID_LINES; i++) {
      const fee = scale.low * (scale.high / scale.low) ** ((i + 0.5) / GRID_LINES)
      const y = Math.round(yOf(scale, fee)) + 0.5
      const text = svg('text', { x: LEFT - 8, y: y + 4, class: 'axis', 'text-anchor': 'end' })
      text.textContent = COMPACT.format(fee)
      out.push(svg('line', { x1: LEFT, x2: scale.width - RIGHT, y1: y, y2: y, class: 'grid' }), text)
    }
    for (const [epoch, anchor] of [
      [scale.first, 'start'],
      [scale.last, 'end'],
    ] as const) {
      if (epoch < 0) continue
      const text = svg('text', { x: xOf(scale, epoch), y: HEIGHT - 6, class: 'axis', 'text-anchor': anchor })
      text.textContent = formatCount(epoch)
      out.push(text)
    }
    out.push(...this.#line(scale), ...this.#nulls(scale))
    return out
  }

  /** Steps: a fee holds until the next tipset. */
  #line(scale: Scale): Node[] {
    const first = this.#points[0]
    if (first === undefined) return []
    let path = ''
    for (const { height, baseFee } of this.#points) {
      const x = xOf(scale, height).toFixed(1)
      const y = yOf(scale, Number(baseFee)).toFixed(1)
      path += path === '' ? `M${x} ${y}` : `H${x}V${y}`
    }
    const floor = HEIGHT - BOTTOM
    const area = `${path}V${floor}H${xOf(scale, first.height).toFixed(1)}Z`
    return [svg('path', { d: area, class: 'area' }), svg('path', { d: path, class: 'line' })]
  }

  #nulls(scale: Scale): Node[] {
    const out: Node[] = []
    this.#points.forEach(({ height }, i) => {
      const next = this.#points[i + 1]?.height ?? height + 1
      for (let epoch = height + 1; epoch < next; epoch++) {
        const x = xOf(scale, epoch)
        out.push(svg('line', { x1: x, x2: x, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 5, class: 'null' }))
      }
    })
    return out
  }

  #point(event: PointerEvent): void {
    const scale = this.#scale
    if (scale === undefined) return
    const share = (event.offsetX - LEFT) / (scale.width - LEFT - RIGHT)
    this.#choose(Math.round(scale.first + share * (scale.last - scale.first)))
  }

  #key(event: KeyboardEvent): void {
    const at = this.#points.findIndex(({ height }) => height === this.#current()?.height)
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: -1,
      ArrowDown: -1,
      ArrowRight: 1,
      ArrowUp: 1,
      PageUp: 10,
      PageDown: -10,
      Home: -CHART_EPOCHS,
      End: CHART_EPOCHS,
    }
    const step = steps[event.key]
    if (step === undefined || at < 0) return
    event.preventDefault()
    this.#choose(this.#points[Math.min(this.#points.length - 1, Math.max(0, at + step))]?.height)
  }

  #choose(epoch: number | undefined): void {
    this.#chosen = epoch
    this.#showCursor()
  }

  /** The chosen tipset, or the one below a chosen null round. */
  #current(): TipsetView | undefined {
    const chosen = this.#chosen
    if (chosen === undefined) return this.#points.at(-1)
    return this.#points.findLast(({ height }) => height <= chosen) ?? this.#points[0]
  }

  #showCursor(): void {
    const scale = this.#scale
    const current = this.#current()
    if (scale === undefined || current === undefined) return
    const x = xOf(scale, current.height)
    const y = yOf(scale, Number(current.baseFee))
    const line = svg('line', { x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM })
    this.#cursor.replaceChildren(...(this.#chosen === undefined ? [] : [line]), svg('circle', { cx: x, cy: y, r: 3.5 }))
    const fee = formatGasPrice(current.baseFee)
    const text = `${fee.text} ${fee.unit} at ${formatCount(current.height)}`
    setText(byId('fee-read'), text)
    this.#root.setAttribute('aria-valuemin', String(this.#points[0]?.height ?? 0))
    this.#root.setAttribute('aria-valuemax', String(scale.last))
    this.#root.setAttribute('aria-valuenow', String(current.height))
    this.#root.setAttribute('aria-valuetext', text)
  }
}
