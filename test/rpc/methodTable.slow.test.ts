/** The method table of a node: every row against Lotus' list of methods, and every permission against every token. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemRandom } from '../../platform/server/random.ts'
import { openRecorded, type RecordedNode } from '../../scripts/golden/openRecorded.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { stringifyJson } from '../../src/codec/jsonText.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { RpcError } from '../../src/rpc/errors.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import type { ApiVersion, MethodRow, Param } from '../../src/rpc/method.ts'
import { PERMISSIONS } from '../../src/rpc/permission.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable, type MethodTable } from '../../src/rpc/table.ts'
import { Tokens } from '../../src/rpc/tokens.ts'
import { missingShared, readSharedJson, sharedPath } from '../support/shared.ts'
import { httpRequest, silentLog } from './stubTable.ts'

interface Reference {
  readonly name: string
  readonly aliasOf?: string
  readonly versions: readonly ApiVersion[]
  readonly alsoServedOn?: readonly ApiVersion[]
  readonly perm: string
  readonly params: readonly { readonly name: string; readonly type: string }[]
  readonly result: string
  readonly variants?: Readonly<Record<string, { readonly params: readonly { readonly type: string }[] }>>
}

/** Rows that Lotus does not have. */
const OWN: ReadonlySet<string> = new Set([
  'ChainGetTransfers',
  'ChainGetTransfersSince',
  'AuthNewToken',
  'AuthRevoke',
  'LightStatus',
  'SyncPresumed',
])
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

const missing = missingShared('data/golden/nv28/chain.car.zst')

function valueFor(param: Param<unknown>): Json {
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
function reached(row: MethodRow): MethodRow {
  const handle = (): never => {
    throw new RpcError('FAILED', 'reached')
  }
  return row.kind === 'channel' ? { ...row, subscribe: handle } : { ...row, handle }
}

describe.skipIf(missing !== undefined)('method table', () => {
  let node: RecordedNode
  let table: MethodTable
  beforeAll(async () => {
    node = await openRecorded(sharedPath('data/golden/nv28'))
    table = node.node.table
  })
  afterAll(() => node?.close())

  it('agrees with the list of Lotus methods', () => {
    const reference = new Map(readSharedJson<Reference[]>('reference/rpc-methods.json').map((one) => [one.name, one]))
    const failures: string[] = []
    for (const version of ['v0', 'v1', 'v2'] as const) {
      for (const row of table.list(version)) {
        const listed = reference.get(row.name)
        if (listed === undefined) {
          if (!OWN.has(row.name)) failures.push(`${version} ${row.name} is not in the list`)
          continue
        }
        if (listed.perm !== row.perm)
          failures.push(`${version} ${row.name}: permission ${row.perm}, not ${listed.perm}`)
        const params = listed.variants?.[version]?.params ?? listed.params
        if (row.kind !== 'raw' && params.length !== row.params.length) {
          failures.push(`${version} ${row.name}: ${row.params.length} parameters, not ${params.length}`)
        }
        const isChannel = listed.result.startsWith('Channel<')
        if (isChannel !== (row.kind === 'channel')) failures.push(`${row.name}: channel or not`)
        const served = listed.versions.includes(version) || (version === 'v0' && listed.versions.includes('v1'))
        if (!served) failures.push(`${row.name} must not be served on ${version}`)
      }
    }
    expect(failures).toEqual([])
  })

  it('serves every name that Lotus serves, on the same paths', () => {
    const missing = new Set<string>()
    for (const listed of readSharedJson<Reference[]>('reference/rpc-methods.json')) {
      const full = listed.aliasOf === undefined ? `Filecoin.${listed.name}` : listed.name
      for (const version of [...listed.versions, ...(listed.alsoServedOn ?? [])]) {
        if (table.find(version, full) === undefined) missing.add(full)
      }
    }
    expect([...missing]).toEqual([])
  })

  it('has every method of the exchange interface on v0 under both names', () => {
    const names =
      'ChainHead ChainGetTipSetByHeight ChainGetParentMessages WalletNew WalletBalance MpoolPushMessage MpoolPending ' +
      'WalletSign MpoolPush StateReplay StateCompute GasEstimateMessageGas'
    for (const name of names.split(' ')) {
      expect(table.find('v0', `Node.${name}`), name).toBeDefined()
      expect(table.find('v0', `Filecoin.${name}`), name).toBe(table.find('v0', `Node.${name}`))
    }
  })

  it('checks every method against every kind of token', async () => {
    let nowMs = 1_700_000_000_000
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
    const secret = new Uint8Array(32).fill(7)
    const tokens = new Tokens({ secret, clock, random: systemRandom, store: new MemoryStore() })
    const engine = new RpcEngine({
      table: createMethodTable(table.rows.map(reached)),
      json: { addressPrefix: 't' },
      log: silentLog,
    })
    const handler = new HttpHandler(engine, { verifier: tokens })
    const revoked = tokens.issueUnique([...PERMISSIONS])
    await tokens.revoke(revoked)
    const expired = tokens.issueUnique([...PERMISSIONS], 60)
    nowMs += 61_000
    const good: [string | undefined, readonly string[]][] = [
      [undefined, ['read']],
      [tokens.issue([]), []],
      [tokens.issue(null), []],
      ...PERMISSIONS.map((one): [string, readonly string[]] => [tokens.issue([one]), [one]]),
      [tokens.issue(PERMISSIONS), PERMISSIONS],
    ]
    const bad = [revoked, expired, 'garbage', `${tokens.issue(PERMISSIONS)}x`, '']
    let checked = 0
    for (const version of ['v0', 'v1', 'v2'] as const) {
      for (const row of table.list(version)) {
        const method = `Filecoin.${row.name}`
        const body = stringifyJson({ jsonrpc: '2.0', id: 1, method, params: row.params.map(valueFor) })
        const ask = async (token: string | undefined): Promise<{ status: number; body: string }> =>
          handler.handle(
            httpRequest(
              'POST',
              `/rpc/${version}`,
              body,
              token === undefined ? {} : { authorization: `Bearer ${token}` },
            ),
          )
        for (const token of bad) expect((await ask(token)).status, `${method} with a bad token`).toBe(401)
        for (const [token, permissions] of good) {
          const denied = `missing permission to invoke '${row.permName ?? row.name}' (need '${row.perm}')`
          const expected = permissions.includes(row.perm) ? 'reached' : denied
          let answer: string | undefined
          if (row.kind === 'channel') {
            const session = new RpcSession({
              engine,
              version,
              permissions: () => new Set(permissions),
              sink: { send: (text) => (answer = text), unreadBytes: () => 0, close: () => undefined },
            })
            session.receive(body)
          } else answer = (await ask(token)).body
          const { error } = JSON.parse(answer ?? '{}') as { error?: { code: number; message: string } }
          expect(error, `${method} with ${permissions.join()}`).toEqual({ code: 1, message: expected })
          checked++
        }
      }
    }
    expect(checked).toBeGreaterThan(500)
  })
})
