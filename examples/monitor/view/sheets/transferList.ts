/** Transfers in a sheet. */
import type { Monitor } from '../../model/monitor.ts'
import { isIncoming, type SeenTransfer } from '../../model/watch.ts'
import { h } from '../dom.ts'
import { addressLink, amountText, epochLink, list } from './parts.ts'

const SHOWN = 50

function kindText({ kind }: SeenTransfer): string {
  return kind === 'message' ? '' : kind === 'internal' ? 'inside a call' : kind
}

/** Both ends of each. */
export function transferList(monitor: Monitor, transfers: readonly SeenTransfer[], none: string): HTMLElement[] {
  const items = transfers.map((transfer) =>
    h(
      'li',
      {},
      amountText(transfer.value),
      h('span', {}, addressLink(monitor, transfer.from), ' → ', addressLink(monitor, transfer.to)),
      h('span', { class: 'faint' }, kindText(transfer)),
    ),
  )
  return list(items, SHOWN, none)
}

/** As one address sees them. @param names - of it, with the letter f */
export function ownTransferList(
  monitor: Monitor,
  transfers: readonly SeenTransfer[],
  names: readonly string[],
  none: string,
): HTMLElement[] {
  const items = transfers.map((transfer) => {
    const isIn = names.some((name) => isIncoming(transfer, name))
    return h(
      'li',
      { class: isIn ? 'in' : 'out' },
      h('span', { class: 'value' }, isIn ? '+' : '−', amountText(transfer.value)),
      h(
        'span',
        {},
        isIn ? 'from ' : 'to ',
        addressLink(monitor, isIn ? transfer.from : transfer.to),
        ` ${kindText(transfer)}`,
      ),
      epochLink(transfer.height),
    )
  })
  return list(items, SHOWN, none)
}
