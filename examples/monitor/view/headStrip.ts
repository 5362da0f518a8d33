/** The newest tipset, large. */
import { formatAge, formatCount, formatGasPrice } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import { byId, replaceWhen, setText } from './dom.ts'
import { sourceTag } from './source.ts'

const RECENT = 100

function blocksPerEpoch(monitor: Monitor): string {
  const counts = monitor.window?.blockCounts().slice(-RECENT) ?? []
  if (counts.length === 0) return '–'
  const total = counts.reduce((sum, one) => sum + one, 0)
  const empty = counts.filter((one) => one === 0).length
  return `${(total / counts.length).toFixed(1)}, ${empty} null in ${counts.length}`
}

/** All but what the clock moves. */
export function showHead(monitor: Monitor): void {
  const { head, finality, headSource } = monitor
  setText(byId('head-epoch'), head === undefined ? '–' : formatCount(head.height))
  replaceWhen(byId('head-mark'), head === undefined ? '' : headSource, () =>
    head === undefined ? [] : [sourceTag(headSource)],
  )
  const fee = head === undefined ? undefined : formatGasPrice(head.baseFee)
  setText(byId('fact-fee'), fee === undefined ? '–' : `${fee.text} ${fee.unit}`)
  setText(byId('fact-blocks'), blocksPerEpoch(monitor))
  setText(byId('fact-pool'), monitor.waiting === undefined ? '–' : formatCount(monitor.waiting))
  setText(byId('fact-final'), finalText(monitor))
  document.title = head === undefined ? 'Petrel monitor' : `${head.height} · Petrel monitor`
  byId('fact-final').title =
    monitor.light !== undefined
      ? 'F3: two thirds of the storage power signed it'
      : finality === undefined
        ? ''
        : 'EC finality: a reorganisation is less likely than 2⁻³⁰'
}

function finalText({ finality, head, light }: Monitor): string {
  if (light?.final != null) return `${formatCount(light.final.epoch)}, proven`
  if (head === undefined) return '–'
  if (light !== undefined) return 'fetching certificates'
  if (finality === undefined) return 'counting blocks'
  const epoch = head.height - finality.depth
  return epoch < 0 ? 'nothing yet' : `${formatCount(epoch)}, ${formatCount(finality.depth)} deep`
}

/** What the clock moves. */
export function showClock(monitor: Monitor, nowMs: number): void {
  const { head, info } = monitor
  const bar = byId('head-progress')
  if (head === undefined || info === undefined) {
    setText(byId('head-sub'), monitor.link.at === 'offline' ? 'not connected' : 'waiting for the first tipset')
    return
  }
  const age = nowMs / 1000 - head.timestamp
  const blocks = `${head.miners.length} ${head.miners.length === 1 ? 'block' : 'blocks'}`
  setText(byId('head-sub'), age < 0 ? blocks : `${blocks}, ${formatAge(age)} ago`)
  bar.style.inlineSize = `${Math.min(100, Math.max(0, (100 * age) / info.blockDelay)).toFixed(1)}%`
}
