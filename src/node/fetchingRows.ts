/** Rows whose answers fetch the blocks that they miss: of a node that holds only a part of the state. */
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { MethodRow } from '../rpc/method.ts'

/**
 * Every call runs again once its missing blocks are here. Methods that change something read all they need first: what
 * they throw `BlockMissing` for has changed nothing. Channels are left as they are.
 */
export function fetchingRows(rows: readonly MethodRow[], edge: BlockEdge): MethodRow[] {
  return rows.map((row): MethodRow => {
    if (row.kind === 'call') return { ...row, handle: (args, call) => edge(() => row.handle(args, call), call.signal) }
    if (row.kind === 'raw')
      return { ...row, handle: (params, call) => edge(() => row.handle(params, call), call.signal) }
    return row
  })
}
