/** The strip above all else: a word for the state, the head, what is final, and what the node says of itself. */
import { formatAge, formatCount, formatGasPrice, formatTime } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import { statusOf } from '../model/status.ts'
import { SYNC_STEPS } from '../model/syncSteps.ts'
import { byId, h, replaceWhen, setText, setValue } from './dom.ts'
import { sourceTag } from './source.ts'

const MS = 1000
const PERCENT = 100

/** All but what the clock moves. */
export function showHead(monitor: Monitor): void {
  const { head, headSource, info, poolWatch, news } = monitor
  setValue(byId('head-epoch'), head === undefined ? undefined : formatCount(head.height))
  replaceWhen(byId('head-mark'), head === undefined ? '' : headSource, () =>
    head === undefined ? [] : [sourceTag(headSource)],
  )
  const fee = head === undefined ? undefined : formatGasPrice(head.baseFee)
  setValue(byId('fact-fee'), fee?.text)
  setText(byId('fee-unit'), fee?.unit ?? '\u00a0')
  const waits = poolWatch.waiting
  setValue(
    byId('fact-pool'),
    poolWatch.error !== undefined ? 'not told' : waits === undefined ? undefined : formatCount(waits),
  )
  setValue(
    byId('fact-peers'),
    news.peersError !== undefined ? 'not told' : news.peers === undefined ? undefined : formatCount(news.peers.length),
  )
  setValue(byId('fact-version'), info?.agent)
  byId('fact-version').title = info?.agent ?? ''
  setText(byId('version-sub'), info === undefined ? '\u00a0' : `${info.network}, ${info.blockDelay} s`)
  showFinal(monitor)
  showSync(monitor)
}

function showFinal({ finality, head, news: { light, f3Epoch }, window, info }: Monitor): void {
  const value = byId('fact-final')
  const sub = byId('final-sub')
  const calculated = head === undefined || finality === undefined ? undefined : head.height - finality.depth
  const epoch = light !== undefined ? light.final?.epoch : maximum(calculated, f3Epoch)
  if (head === undefined && epoch === undefined) {
    setValue(value, undefined)
    setText(sub, '\u00a0')
    return
  }
  if (epoch === undefined || epoch < 0) {
    setValue(value, light !== undefined ? 'fetching certificates' : epoch === undefined ? 'counting' : 'nothing yet')
    setText(sub, '\u00a0')
    return
  }
  const known = window?.tipsets.findLast(({ height }) => height <= epoch)
  // Of a tipset outside of the window the clock knows when its epoch was.
  const at =
    known?.timestamp ??
    (head === undefined ? undefined : head.timestamp - (head.height - epoch) * (info?.blockDelay ?? 1))
  setValue(value, at === undefined ? formatCount(epoch) : formatTime(at))
  const deep = head === undefined ? '' : `, ${formatCount(Math.max(0, head.height - epoch))} deep`
  const how = light !== undefined ? ', proven' : f3Epoch !== undefined && f3Epoch >= (calculated ?? -1) ? ' by F3' : ''
  setText(sub, `epoch ${formatCount(epoch)}${deep}${how}`)
  value.title =
    how === ''
      ? 'EC finality: a reorganisation is less likely than 2⁻³⁰'
      : 'F3: two thirds of the storage power signed it'
}

function maximum(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b
  return b === undefined ? a : Math.max(a, b)
}

/** The steps of a sync, with numbers. */
function showSync({ news: { syncStep } }: Monitor): void {
  const box = byId('sync')
  box.hidden = syncStep === undefined
  if (syncStep === undefined) return
  const { step, height, target, share } = syncStep
  const at = SYNC_STEPS.indexOf(step)
  replaceWhen(box, JSON.stringify(syncStep), () => [
    h(
      'ol',
      { class: 'sync-steps' },
      ...SYNC_STEPS.map((name, i) =>
        h(
          'li',
          { class: i < at ? 'done' : i === at ? 'now' : '', 'aria-current': i === at ? 'step' : undefined },
          i === at ? `${name} ${formatCount(height)} of ${formatCount(target)}` : name,
        ),
      ),
    ),
    h('progress', { max: '1', value: share.toFixed(3), 'aria-label': `Sync: fetching ${step}` }),
    h('span', { class: 'num' }, `${Math.floor(share * PERCENT)} %`),
  ])
}

/** What the clock moves. */
export function showClock(monitor: Monitor, nowMs: number): void {
  const { head, info, link } = monitor
  const status = statusOf(monitor)
  const word = byId('status')
  word.dataset.kind = status.kind
  word.title = status.meaning
  setText(byId('status-word'), status.word)
  if (head === undefined || info === undefined) {
    setText(byId('head-sub'), link.at === 'offline' ? 'not connected' : 'waiting for the first tipset')
    return
  }
  const age = nowMs / MS - head.timestamp
  const blocks = `${head.miners.length} ${head.miners.length === 1 ? 'block' : 'blocks'}`
  setText(byId('head-sub'), age < 0 ? blocks : `${blocks}, ${formatAge(age)} ago`)
  const share = Math.min(PERCENT, Math.max(0, (PERCENT * age) / info.blockDelay))
  byId('head-progress').style.inlineSize = `${share.toFixed(1)}%`
}
