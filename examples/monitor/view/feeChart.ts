import { FEE_SPANS, type FeePoint, type FeeSpan } from '../model/feeHistory.ts'
import { formatCount } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import { axisLabel, axisNumber, gasUnit, timeTicks } from './axis.ts'
import { byId, h, setText, svg } from './dom.ts'

const HEIGHT = 184
const TOP = 10
const BOTTOM = 24
const RIGHT = 8
const LEFT = 56
const GRID_LINES = 3
/** A change by less than this factor fills only part of the height: a ripple must not look like a storm. */
const LEAST_FACTOR = 1.3
/** Width of a time on the axis. */
const TICK_WIDTH = 64
const MS = 1000

interface Scale {
  readonly width: number
  /** Unix seconds. */
  readonly first: number
  readonly last: number
  /** AttoFIL. */
  readonly low: number
  readonly high: number
}

function xOf({ width, first, last }: Scale, timestamp: number): number {
  return LEFT + ((width - LEFT - RIGHT) * (timestamp - first)) / Math.max(1, last - first)
}

function yOf({ low, high }: Scale, fee: number): number {
  return TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.log(Math.max(1, fee) / low) / Math.log(high / low))
}

function scaleOf(points: readonly FeePoint[], width: number, seconds: number, limit: bigint | undefined): Scale {
  const fees = points.map(({ baseFee }) => Math.max(1, Number(baseFee)))
  const least = Math.min(...fees)
  const highest = Math.max(...fees)
  // A limit that is near is shown, one that is far would flatten the line.
  const most = limit !== undefined && Number(limit) < highest * 4 ? Math.max(highest, Number(limit)) : highest
  const pad = Math.sqrt(Math.max(1.15, LEAST_FACTOR / (most / least)))
  const last = (points.at(-1) as FeePoint).timestamp
  const first = Math.max(last - seconds, (points[0] as FeePoint).timestamp)
  return { width, first, last, low: least / pad, high: most * pad }
}

function timeText(timestamp: number, span: FeeSpan): string {
  const options = { hour: '2-digit', minute: '2-digit' } as const
  const at = new Date(timestamp * MS)
  return span === '7d'
    ? at.toLocaleString('en-GB', { ...options, day: 'numeric', month: 'short' })
    : at.toLocaleTimeString('en-GB', options)
}

/**
 * The base fee over an hour, a day or a week, as SVG, in one unit. Read by pointer or by the arrow keys. The scale is
 * logarithmic: a fee changes by up to an eighth of itself per epoch, so the same slope is the same pressure at any height.
 */
export class FeeChart {
  readonly #monitor: Monitor
  readonly #root: SVGElement
  readonly #cursor: SVGElement = svg('g', { class: 'cursor' })
  readonly #plot: SVGElement = svg('g')
  #points: readonly FeePoint[] = []
  #scale: Scale | undefined
  /** Place of the point under the cursor; undefined: the newest. */
  #chosen: number | undefined

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    this.#root = svg(
      'svg',
      {
        class: 'fee',
        height: HEIGHT,
        tabindex: 0,
        role: 'slider',
        'aria-label': 'Base fee over time',
        'aria-orientation': 'horizontal',
        'aria-valuenow': 0,
        'aria-valuetext': 'nothing yet',
      },
      this.#plot,
      this.#cursor,
    )
    const box = byId('fee-chart')
    box.append(this.#root)
    byId('fee-spans').append(
      ...(Object.keys(FEE_SPANS) as FeeSpan[]).map((span) =>
        h(
          'button',
          { type: 'button', class: 'span', 'data-span': span, onclick: () => this.#show(span) },
          span.replace(/(\d)([a-z])/, '$1 $2'),
        ),
      ),
    )
    new ResizeObserver(() => this.show()).observe(box)
    this.#root.addEventListener('pointermove', (event) => this.#point(event as PointerEvent))
    this.#root.addEventListener('pointerleave', () => this.#choose(undefined))
    this.#root.addEventListener('blur', () => this.#choose(undefined))
    this.#root.addEventListener('keydown', (event) => this.#key(event as KeyboardEvent))
  }

  show(): void {
    const { feeSpan, feePoints, feeError, settings, news } = this.#monitor
    for (const button of byId('fee-spans').querySelectorAll<HTMLElement>('[data-span]')) {
      button.setAttribute('aria-pressed', String(button.dataset.span === feeSpan))
    }
    const width = Math.floor(byId('fee-chart').clientWidth)
    if (width === 0) return
    this.#root.setAttribute('width', String(width))
    this.#root.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`)
    const note =
      feeError !== undefined
        ? `The node does not give older tipsets: ${feeError}`
        : news.light !== undefined && feeSpan !== '1h'
          ? 'A light node has the newest tipsets alone.'
          : ''
    setText(byId('fee-note'), note)
    byId('fee-note').hidden = note === ''
    this.#points = feePoints
    this.#root.classList.toggle('is-empty', feePoints.length === 0)
    if (feePoints.length === 0) {
      this.#plot.replaceChildren()
      this.#cursor.replaceChildren()
      setText(byId('fee-read'), '')
      return
    }
    this.#scale = scaleOf(feePoints, width, FEE_SPANS[feeSpan], settings.feeLimit)
    this.#plot.replaceChildren(...this.#draw(this.#scale))
    this.#showCursor()
  }

  #show(span: FeeSpan): void {
    this.#chosen = undefined
    this.#monitor.setFeeSpan(span)
  }

  #draw(scale: Scale): Node[] {
    const out: Node[] = []
    const { low, high, width, first, last } = scale
    const unit = gasUnit(low)
    const floor = HEIGHT - BOTTOM
    for (let i = 0; i < GRID_LINES; i++) {
      const fee = low * (high / low) ** ((i + 0.5) / GRID_LINES)
      const y = Math.round(yOf(scale, fee)) + 0.5
      out.push(svg('line', { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: 'grid' }))
      out.push(text(axisLabel(fee / unit.size), LEFT - 8, y + 4, 'end'))
    }
    for (const tick of timeTicks(first, last, Math.floor((width - LEFT) / TICK_WIDTH))) {
      const x = xOf(scale, tick.at)
      out.push(svg('line', { x1: x, x2: x, y1: floor, y2: floor + 4, class: 'tick' }))
      const anchor = x > width - 24 ? 'end' : x < LEFT + 16 ? 'start' : 'middle'
      out.push(text(tick.text, x, HEIGHT - 6, anchor))
    }
    const { feeLimit } = this.#monitor.settings
    if (feeLimit !== undefined && Number(feeLimit) > low && Number(feeLimit) < high) {
      const y = yOf(scale, Number(feeLimit))
      out.push(svg('line', { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: 'limit' }))
    }
    return [...out, ...this.#line(scale)]
  }

  /** Steps: a fee holds until the next tipset. */
  #line(scale: Scale): Node[] {
    let path = ''
    for (const { timestamp, baseFee } of this.#points) {
      const x = Math.max(LEFT, xOf(scale, timestamp)).toFixed(1)
      const y = yOf(scale, Number(baseFee)).toFixed(1)
      path += path === '' ? `M${x} ${y}` : `H${x}V${y}`
    }
    const area = `${path}V${HEIGHT - BOTTOM}H${LEFT}Z`
    return [svg('path', { d: area, class: 'area' }), svg('path', { d: path, class: 'line' })]
  }

  #point(event: PointerEvent): void {
    const scale = this.#scale
    if (scale === undefined) return
    const share = (event.offsetX - LEFT) / (scale.width - LEFT - RIGHT)
    const at = scale.first + share * (scale.last - scale.first)
    const after = this.#points.findIndex(({ timestamp }) => timestamp > at)
    this.#choose(Math.max(0, (after < 0 ? this.#points.length : after) - 1))
  }

  #key(event: KeyboardEvent): void {
    const { length } = this.#points
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: -1,
      ArrowDown: -1,
      ArrowRight: 1,
      ArrowUp: 1,
      PageUp: 10,
      PageDown: -10,
      Home: -length,
      End: length,
    }
    const step = steps[event.key]
    if (step === undefined || length === 0) return
    event.preventDefault()
    this.#choose(Math.min(length - 1, Math.max(0, (this.#chosen ?? length - 1) + step)))
  }

  #choose(place: number | undefined): void {
    this.#chosen = place
    this.#showCursor()
  }

  #showCursor(): void {
    const scale = this.#scale
    const current = this.#points[this.#chosen ?? this.#points.length - 1] ?? this.#points.at(-1)
    if (scale === undefined || current === undefined) return
    const x = Math.max(LEFT, xOf(scale, current.timestamp))
    const y = yOf(scale, Number(current.baseFee))
    const line = svg('line', { x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM })
    this.#cursor.replaceChildren(...(this.#chosen === undefined ? [] : [line]), svg('circle', { cx: x, cy: y, r: 3.5 }))
    const unit = gasUnit(scale.low)
    const value = `${axisNumber(Number(current.baseFee) / unit.size)} ${unit.name}`
    const said = `${value} at ${timeText(current.timestamp, this.#monitor.feeSpan)}, epoch ${formatCount(current.height)}`
    setText(byId('fee-read'), said)
    this.#root.setAttribute('aria-valuemin', String(this.#points[0]?.height ?? 0))
    this.#root.setAttribute('aria-valuemax', String(this.#points.at(-1)?.height ?? 0))
    this.#root.setAttribute('aria-valuenow', String(current.height))
    this.#root.setAttribute('aria-valuetext', said)
  }
}

function text(content: string, x: number, y: number, anchor: string): SVGElement {
  const element = svg('text', { x, y, class: 'axis', 'text-anchor': anchor })
  element.textContent = content
  return element
}
