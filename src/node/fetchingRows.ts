/** Rows whose answers fetch the blocks that they miss: of a node that holds only a part of the state. */
import type { Json } from '../codec/jsonText.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { CallContext, MethodRow } from '../rpc/method.ts'

/**
 * Every call runs again once its missing blocks are here. Methods that change something read all they need first: what
 * they throw `BlockMissing` for has changed nothing. Channels are left as they are.
 */
export function fetchingRows(rows: readonly MethodRow[], edge: BlockEdge): MethodRow[] {
  return rows.map((row): MethodRow => {
    if (row.kind === 'call') {
      const handle = (args: readonly unknown[], call: CallContext): Promise<unknown> =>
        edge(() => row.handle(args, call), call.signal)
      return { ...row, handle }
    }
    if (row.kind === 'raw') {
      const handle = (params: Json | undefined, call: CallContext): Promise<unknown> =>
        edge(() => row.handle(params, call), call.signal)
      return { ...row, handle }
    }
    return row
  })
}
