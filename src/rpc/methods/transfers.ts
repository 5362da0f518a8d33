/** Methods that list transfers: ours, for exchanges. */
import type { ChainView } from '../../chain/chainView.ts'
import type { AddressedTransfers, TransferReader } from '../../transfers/tipsetTransfers.ts'
import { cursorSteps } from '../../transfers/transferCursor.ts'
import type { Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { MAX_TRANSFER_TIPSETS } from '../limits.ts'
import { type CallContext, type MethodRow, method } from '../method.ts'
import { chainGetTransfers, chainGetTransfersSince } from '../signatures/transfers.ts'

/** What the methods need. */
export interface TransferMethodsDeps {
  readonly view: ChainView
  readonly transfers: TransferReader
}

/** Rows of the transfer methods. */
export function transferMethods({ view, transfers }: TransferMethodsDeps): MethodRow[] {
  const { store } = view
  const readAll = async (tipsets: readonly Tipset[], call: CallContext): Promise<AddressedTransfers[]> => {
    const out: AddressedTransfers[] = []
    for (const tipset of tipsets) {
      // Where all of them are remembered, nothing else looks whether somebody waits still.
      if (call.signal.aborted) throw new RpcError('CANCELLED', 'the caller has gone')
      out.push(await transfers.read(tipset, call))
    }
    return out
  }
  return [
    method({
      ...chainGetTransfers,
      handler: (at, call) => transfers.read(store.tipsetOrHead(at), call),
    }),
    method({
      ...chainGetTransfersSince,
      handler: async (position, confidence, limit, call) => {
        const most = limit <= 0 ? MAX_TRANSFER_TIPSETS : Math.min(limit, MAX_TRANSFER_TIPSETS)
        const from = position.length === 0 ? undefined : position
        const steps = await call.walk(cursorSteps(store, from, confidence, most))
        return {
          reverted: await readAll(steps.reverted, call),
          applied: await readAll(steps.applied, call),
          position: steps.position,
        }
      },
    }),
  ]
}
