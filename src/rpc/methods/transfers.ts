/** Methods that list transfers: ours, for exchanges. */
import type { ChainView } from '../../chain/chainView.ts'
import { int } from '../../codec/description.ts'
import type { AddressedTransfers, TransferReader } from '../../transfers/tipsetTransfers.ts'
import { cursorSteps } from '../../transfers/transferCursor.ts'
import { chainEpoch } from '../../types/scalars.ts'
import { type Tipset, tipsetKey } from '../../types/tipset.ts'
import { type MethodRow, method, param } from '../method.ts'
import { tipsetTransfers, transferSteps } from '../types/transfers.ts'

/** What the methods need. */
export interface TransferMethodsDeps {
  readonly view: ChainView
  readonly transfers: TransferReader
}

/** Most tipsets in one answer. */
const MAX_STEPS = 100

/** Rows of the transfer methods. */
export function transferMethods({ view, transfers }: TransferMethodsDeps): MethodRow[] {
  const { store } = view
  const chain = { head: () => store.head(), loadTipset: (key: Parameters<typeof store.tipset>[0]) => store.tipset(key) }
  const readAll = async (tipsets: readonly Tipset[]): Promise<AddressedTransfers[]> => {
    const out: AddressedTransfers[] = []
    for (const tipset of tipsets) out.push(await transfers.read(tipset))
    return out
  }
  return [
    method({
      name: 'ChainGetTransfers',
      perm: 'read',
      summary:
        'Value that moved for good when a tipset was executed: sends of messages and of actors, rewards, and gas paid.',
      params: [param('tipsetKey', tipsetKey)],
      result: tipsetTransfers,
      handler: (at) => transfers.read(store.tipsetOrHead(at)),
    }),
    method({
      name: 'ChainGetTransfersSince',
      perm: 'read',
      summary:
        'Steps from a position (a tipset key; empty: start now) to the newest tipset that lies so many epochs deep: ' +
        'transfers to take back after a reorg, transfers to book, the next position.',
      params: [param('position', tipsetKey), param('confidence', chainEpoch), param('limit', int)],
      result: transferSteps,
      handler: async (position, confidence, limit) => {
        const most = limit <= 0 ? MAX_STEPS : Math.min(limit, MAX_STEPS)
        const steps = cursorSteps(chain, position.length === 0 ? undefined : position, confidence, most)
        return {
          reverted: await readAll(steps.reverted),
          applied: await readAll(steps.applied),
          position: steps.position,
        }
      },
    }),
  ]
}
