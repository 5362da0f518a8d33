/** The rows of a node's table with handlers that only say that they were reached, and parameters that fit them. */
import type { Json } from '../../src/codec/jsonText.ts'
import { RpcError } from '../../src/rpc/errors.ts'
import type { MethodRow, Param } from '../../src/rpc/method.ts'

const CID = { '/': 'bafy2bzacedswlcz5ddgqnyo3sak3jmhmkxashisnlpq6ujgyhe4mlobzpnhs6' }
const PEER = '12D3KooWBF8cpp65hp2u9LK5mh19x67ftAam84z9LsfaquTDSBpt'
/** Values of which one fits any parameter. */
const CANDIDATES: readonly Json[] = [
  null,
  1,
  'f01',
  CID,
  [],
  {},
  '',
  '0',
  'secp256k1',
  false,
  '0x1',
  `0x${'00'.repeat(20)}`,
  `0x${'00'.repeat(32)}`,
  [CID],
  PEER,
  { ID: PEER, Addrs: [] },
  { tag: 'latest' },
  { SealedCID: CID },
]

/** A value that the parameter takes. */
export function valueFor(param: Param<unknown>): Json {
  for (const one of CANDIDATES) {
    try {
      param.codec.fromJson(one, { addressPrefix: 't' })
      return one
    } catch {
      // The next candidate.
    }
  }
  throw new Error(`no value for a parameter of type ${param.codec.name}`)
}

/** The same row, with a handler that only says that it was reached. */
export function reached(row: MethodRow): MethodRow {
  const handle = (): never => {
    throw new RpcError('FAILED', 'reached')
  }
  return row.kind === 'channel' ? { ...row, subscribe: handle } : { ...row, handle }
}
