/** Methods that list transfers: ours, for exchanges. */
import type { ChainView } from '../../chain/chainView.ts'
import type { AddressedTransfers, TransferReader } from '../../transfers/tipsetTransfers.ts'
import { cursorSteps } from '../../transfers/transferCursor.ts'
import type { Tipset } from '../../types/tipset.ts'
import { type MethodRow, method } from '../method.ts'
import { chainGetTransfers, chainGetTransfersSince } from '../signatures/transfers.ts'

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
      ...chainGetTransfers,
      handler: (at) => transfers.read(store.tipsetOrHead(at)),
    }),
    method({
      ...chainGetTransfersSince,
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
