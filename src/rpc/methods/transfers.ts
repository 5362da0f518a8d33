/** Methods that list transfers: ours, for exchanges. */
import type { ChainView } from '../../chain/chainView.ts'
import type { AddressedTransfers, TransferReader } from '../../transfers/tipsetTransfers.ts'
import { cursorSteps } from '../../transfers/transferCursor.ts'
import type { Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
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
  const readAll = async (tipsets: readonly Tipset[], signal: AbortSignal): Promise<AddressedTransfers[]> => {
    const out: AddressedTransfers[] = []
    for (const tipset of tipsets) {
      // Each may be an execution, which nobody wants any more.
      if (signal.aborted) throw new RpcError('CANCELLED', 'the caller has gone')
      out.push(await transfers.read(tipset))
    }
    return out
  }
  return [
    method({
      ...chainGetTransfers,
      handler: (at) => transfers.read(store.tipsetOrHead(at)),
    }),
    method({
      ...chainGetTransfersSince,
      handler: async (position, confidence, limit, { walk, signal }) => {
        const most = limit <= 0 ? MAX_STEPS : Math.min(limit, MAX_STEPS)
        const from = position.length === 0 ? undefined : position
        const steps = await walk(cursorSteps(store, from, confidence, most))
        return {
          reverted: await readAll(steps.reverted, signal),
          applied: await readAll(steps.applied, signal),
          position: steps.position,
        }
      },
    }),
  ]
}
