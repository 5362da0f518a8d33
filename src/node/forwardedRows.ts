/**
 * Rows of a replica: what asks the chain is answered here, what the writer alone knows or does (its pool, its wallet, its finality
 * certificates) goes on to it, what would change the chain here is refused.
 */
import { json } from '../codec/description.ts'
import type { Json } from '../codec/jsonText.ts'
import { RpcClientError } from '../rpc/client/errors.ts'
import type { RpcTransport } from '../rpc/client/transport.ts'
import { RPC_ERROR_NUMBERS, RpcError, type RpcErrorCode } from '../rpc/errors.ts'
import type { ApiVersion, MethodRow, RawRow } from '../rpc/method.ts'

/** Calls the writer on one of its paths. */
export type WriterOf = (version: ApiVersion) => RpcTransport

/** Reads that only the writer can answer. */
const OF_WRITER = /^(Mpool|F3|EthSendRawTransaction)/
/** Reads that the writer answers better: by its pool. */
const BETTER_BY_WRITER = /^(EthGetTransactionCount$|GasEstimate|EthEstimateGas$)/
/** Of administration: what concerns this process. */
const OWN_ADMIN = /^(Auth|Log|Shutdown$)/

const REFUSED = 'not supported: a replica changes nothing: ask the writer'
const NO_WRITER = 'not supported: this replica was given no --writer to pass this on to'

/** @param writer - undefined: there is none */
export function replicaRows(rows: readonly MethodRow[], writer: WriterOf | undefined): MethodRow[] {
  return rows.map((row) => {
    if (row.kind === 'channel') return row.name === 'MpoolSub' ? { ...row, subscribe: refuse } : row
    if (row.perm === 'admin') return OWN_ADMIN.test(row.name) ? row : answering(row, refuse)
    const isBetter = writer !== undefined && BETTER_BY_WRITER.test(row.name)
    if (OWN_ADMIN.test(row.name) || (row.perm === 'read' && !OF_WRITER.test(row.name) && !isBetter)) return row
    return answering(row, async (params, { version, signal }) => {
      if (writer === undefined) throw new RpcError('FAILED', NO_WRITER)
      try {
        return await writer(version).request(`Filecoin.${row.name}`, (params ?? []) as Json[], signal)
      } catch (error) {
        throw passedOn(error)
      }
    })
  })
}

function refuse(): never {
  throw new RpcError('FAILED', REFUSED)
}

function answering(row: Exclude<MethodRow, { kind: 'channel' }>, handle: RawRow['handle']): RawRow {
  const { name, perm, cost, versions, params, summary, aliases, permName, runsOnce, noDeadline } = row
  const named = {
    ...(permName === undefined ? {} : { permName }),
    ...(noDeadline === undefined ? {} : { noDeadline }),
  }
  const facts = { name, perm, cost, versions, params, summary, aliases, runsOnce, ...named }
  return { ...facts, kind: 'raw', result: json, handle }
}

/** The writer's own failure, with its number where it has one that callers tell apart. */
function passedOn(error: unknown): unknown {
  if (!(error instanceof RpcClientError)) return error
  const { code, message, info } = error
  if (code !== 'REMOTE') return new RpcError('FAILED', `the writer: ${message}`, { cause: error })
  const number = Number(info.code ?? 1)
  // Of those that share one, it is the writer's bounds that were exceeded: what goes on to it has no range.
  const known = (Object.entries(RPC_ERROR_NUMBERS) as [RpcErrorCode, number][]).find(
    ([own, listed]) => listed === number && own !== 'BLOCK_RANGE_EXCEEDED',
  )?.[0]
  return new RpcError(
    known ?? 'FAILED',
    message,
    'data' in info ? { data: info.data as Json, cause: error } : { cause: error },
  )
}
