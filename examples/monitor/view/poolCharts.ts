import { type CapClass, feeCapsOf } from '../model/feeCaps.ts'
import { formatCount } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import type { PoolDepth } from '../model/poolWatch.ts'
import { axisNumber, gasUnit, timeTicks } from './axis.ts'
import { byId, setText, svg } from './dom.ts'

const HEIGHT = 96
const TOP = 8
const BOTTOM = 20
const LEFT = 34
const TICK_WIDTH = 60
const MS = 1000

function root(box: string): SVGElement {
  const element = svg('svg', { class: 'small-chart', height: HEIGHT, role: 'img', 'aria-label': 'Nothing yet' })
  byId(box).append(element)
  return element
}

function text(content: string, x: number, y: number, anchor: string): SVGElement {
  const element = svg('text', { x, y, class: 'axis', 'text-anchor': anchor })
  element.textContent = content
  return element
}

/** The pool as two small charts: how deep it was, and what its messages would pay against the base fee. */
export class PoolCharts {
  readonly #monitor: Monitor
  readonly #depth = root('pool-depth')
  readonly #caps = root('pool-caps')

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    for (const box of ['pool-depth', 'pool-caps']) new ResizeObserver(() => this.show()).observe(byId(box))
  }

  show(): void {
    const { head, poolWatch } = this.#monitor
    const isKnown = poolWatch.waiting !== undefined
    this.#sized(this.#depth, 'pool-depth', (width) => (isKnown ? drawDepth(poolWatch.depths, width) : []))
    const last = poolWatch.depths.at(-1)
    this.#depth.setAttribute(
      'aria-label',
      last === undefined ? 'Nothing yet' : `Depth of the pool: ${formatCount(last.depth)} messages now`,
    )
    if (head === undefined || !isKnown) {
      this.#sized(this.#caps, 'pool-caps', () => [])
      setText(byId('caps-read'), '')
      return
    }
    const { classes, paying, waiting } = feeCapsOf(this.#monitor.pool, head.baseFee)
    this.#sized(this.#caps, 'pool-caps', (width) => drawCaps(classes, width, Number(head.baseFee)))
    const said =
      waiting === 0
        ? `all ${formatCount(paying)} can pay the base fee`
        : `${formatCount(waiting)} of ${formatCount(waiting + paying)} below the base fee`
    setText(byId('caps-read'), paying + waiting === 0 ? '' : said)
    this.#caps.setAttribute('aria-label', `Fee caps: ${paying + waiting === 0 ? 'nothing waits' : said}`)
  }

  #sized(element: SVGElement, box: string, draw: (width: number) => Node[]): void {
    const width = Math.floor(byId(box).clientWidth)
    if (width === 0) return
    element.setAttribute('width', String(width))
    element.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`)
    element.replaceChildren(...draw(width))
  }
}

function drawDepth(depths: readonly PoolDepth[], width: number): Node[] {
  const [first] = depths
  const last = depths.at(-1)
  if (first === undefined || last === undefined) return []
  const most = Math.max(1, ...depths.map(({ depth }) => depth))
  const floor = HEIGHT - BOTTOM
  const span = Math.max(1, last.atMs - first.atMs)
  const x = (atMs: number): number => LEFT + ((width - LEFT - 4) * (atMs - first.atMs)) / span
  const y = (depth: number): number => TOP + (floor - TOP) * (1 - depth / most)
  let path = ''
  for (const { atMs, depth } of depths) {
    path += path === '' ? `M${LEFT} ${y(depth).toFixed(1)}` : `H${x(atMs).toFixed(1)}V${y(depth).toFixed(1)}`
  }
  if (depths.length === 1) path += `H${width - 4}`
  const right = depths.length === 1 ? width - 4 : x(last.atMs)
  return [
    svg('line', { x1: LEFT, x2: width - 4, y1: floor + 0.5, y2: floor + 0.5, class: 'grid' }),
    text(formatCount(most), LEFT - 6, TOP + 8, 'end'),
    text('0', LEFT - 6, floor + 4, 'end'),
    ...timeTicks(first.atMs / MS, last.atMs / MS, Math.floor((width - LEFT) / TICK_WIDTH)).map((tick) => {
      const at = x(tick.at * MS)
      return text(tick.text, at, HEIGHT - 4, at > width - 24 ? 'end' : at < LEFT + 16 ? 'start' : 'middle')
    }),
    svg('path', { d: `${path}V${floor}H${LEFT}Z`, class: 'area' }),
    svg('path', { d: path, class: 'line' }),
    svg('circle', { cx: right, cy: y(last.depth), r: 2.5, class: 'point' }),
  ]
}

function drawCaps(classes: readonly CapClass[], width: number, baseFee: number): Node[] {
  const most = Math.max(1, ...classes.map(({ count }) => count))
  const floor = HEIGHT - BOTTOM
  const step = (width - 4) / classes.length
  const border = classes.findIndex(({ pays }) => pays) * step + 2
  const unit = gasUnit(baseFee)
  return [
    svg('line', { x1: 2, x2: width - 2, y1: floor + 0.5, y2: floor + 0.5, class: 'grid' }),
    ...classes.flatMap(({ count, pays }, i) => {
      const size = (floor - TOP - 10) * (count / most)
      const left = 2 + i * step
      const bar = svg('rect', {
        x: (left + 1).toFixed(1),
        y: (floor - size).toFixed(1),
        width: Math.max(1, step - 2).toFixed(1),
        height: size.toFixed(1),
        class: pays ? 'bar pays' : 'bar waits',
      })
      const isTold = count > 0 && step > 20
      return isTold ? [bar, text(formatCount(count), left + step / 2, floor - size - 3, 'middle')] : [bar]
    }),
    svg('line', { x1: border, x2: border, y1: TOP - 6, y2: floor + 4, class: 'limit' }),
    text(`base fee ${axisNumber(baseFee / unit.size)} ${unit.name}`, border, HEIGHT - 4, 'middle'),
  ]
}
