/** What an operator has to look at, the worst first. */
import { formatAge, formatAmount, formatCount, formatGasPrice, shorten } from './format.ts'
import type { Monitor } from './monitor.ts'
import { noticeOf } from './notice.ts'

/** One thing to look at. */
export interface AttentionItem {
  /** Stays the same while it is the same thing. */
  readonly id: string
  readonly kind: 'bad' | 'warn' | 'info'
  readonly title: string
  readonly text: string
  /** A command line that repairs it. */
  readonly command?: string
  /** What shows more of it, as the search field takes it. */
  readonly query?: string
}

/** How long a reorganisation is told of. */
const REORG_MS = 3_600_000
/** Shorter ones belong to every chain. */
const NOTED_REORG = 2
/** From so many epochs on a reorganisation is no everyday thing. */
const DEEP_REORG = 5

const ORDER = { bad: 0, warn: 1, info: 2 } as const
const MS = 1000

/** @param nowMs - this machine's clock */
export function attentionOf(monitor: Monitor, nowMs: number): AttentionItem[] {
  const items = [
    ...connection(monitor),
    ...stuck(monitor),
    ...gaps(monitor),
    ...wallets(monitor),
    ...baseFee(monitor),
    ...reorgs(monitor, nowMs),
  ]
  return items.sort((a, b) => ORDER[a.kind] - ORDER[b.kind])
}

function nameOf({ settings, print }: Monitor, address: string): string {
  const label = settings.watched.find((entry) => entry.address === address)?.label ?? ''
  return label === '' ? shorten(print(address)) : label
}

function connection(monitor: Monitor): AttentionItem[] {
  const notice = noticeOf(monitor)
  if (notice === undefined) return []
  const { kind, text } = notice
  const titles = {
    offline: 'Offline',
    fault: 'The node cannot be believed',
    stale: 'Old head',
    ahead: 'A clock is wrong',
    other: 'Another chain',
  } as const
  return [
    { id: `link/${kind}`, kind: kind === 'offline' || kind === 'fault' ? 'bad' : 'warn', title: titles[kind], text },
  ]
}

function stuck(monitor: Monitor): AttentionItem[] {
  return monitor.stuck.map(({ cid, from, nonce, reason }) => ({
    id: `stuck/${cid}/${reason.code}`,
    kind: reason.code === 'PREMIUM' ? 'warn' : 'bad',
    title: `Message ${nonce} of ${nameOf(monitor, from)} is stuck`,
    text: `${reason.text.charAt(0).toUpperCase()}${reason.text.slice(1)}.`,
    command: reason.command,
    query: cid,
  }))
}

function gaps(monitor: Monitor): AttentionItem[] {
  return monitor.gaps.map(({ from, missing, waiting }) => ({
    id: `gap/${from}/${missing}`,
    kind: 'bad',
    title: `Nonce gap of ${nameOf(monitor, from)}`,
    text: `Nonce ${missing} is missing: the message with nonce ${waiting} and all above it wait for it.`,
    command: `petrel --force-send send --from ${monitor.print(from)} --nonce ${missing} ${monitor.print(from)} 0`,
    query: monitor.print(from),
  }))
}

function wallets(monitor: Monitor): AttentionItem[] {
  return monitor.watchRows.flatMap(({ address, balance, floor }) => {
    if (floor === undefined || balance === undefined || (balance ?? 0n) >= floor) return []
    return [
      {
        id: `low/${address}`,
        kind: 'warn',
        title: `Low balance of ${nameOf(monitor, address)}`,
        text: `${formatAmount(balance ?? 0n).text} FIL left, below the limit of ${formatAmount(floor).text} FIL.`,
        query: monitor.print(address),
      },
    ]
  })
}

function baseFee({ head, settings: { feeLimit } }: Monitor): AttentionItem[] {
  if (head === undefined || feeLimit === undefined || head.baseFee <= feeLimit) return []
  const fee = formatGasPrice(head.baseFee)
  const limit = formatGasPrice(feeLimit)
  const text = `${fee.text} ${fee.unit}, above the limit of ${limit.text} ${limit.unit}.`
  return [{ id: 'fee', kind: 'warn', title: 'High base fee', text }]
}

function reorgs({ reorgs: seen }: Monitor, nowMs: number): AttentionItem[] {
  return seen
    .filter(({ epochs, seenMs }) => epochs >= NOTED_REORG && nowMs - seenMs < REORG_MS)
    .slice(0, 3)
    .map(({ epochs, at, seenMs }) => ({
      id: `reorg/${at}/${seenMs}`,
      kind: epochs >= DEEP_REORG ? 'warn' : 'info',
      title: `Reorganisation of ${epochs} epochs`,
      text: `From epoch ${formatCount(at)} on, ${formatAge((nowMs - seenMs) / MS)} ago.`,
      query: String(at),
    }))
}
