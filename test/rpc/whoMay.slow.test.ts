/**
 * Who may do what: every method, with every permission and with every kind of void token, over every way in: HTTP, WebSocket,
 * the port of a tab, the command line. What is expected is the permission of Lotus' own list.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSession } from '../../platform/browser/frames.ts'
import { PortSessions } from '../../platform/browser/portSessions.ts'
import { TabTransport } from '../../platform/browser/tabTransport.ts'
import { createRpcClient, parseApiInfo } from '../../platform/cli/rpcClient.ts'
import { startServer } from '../../platform/server/httpServer.ts'
import { systemRandom } from '../../platform/server/random.ts'
import type { Listening } from '../../platform/server/rpcServer.ts'
import { openRecorded, type RecordedNode } from '../../scripts/golden/openRecorded.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { stringifyJson } from '../../src/codec/jsonText.ts'
import { openWebSocket } from '../../src/rpc/client/webSocketTransport.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import type { ApiVersion, MethodRow } from '../../src/rpc/method.ts'
import { PERMISSIONS } from '../../src/rpc/permission.ts'
import { createMethodTable, type MethodTable } from '../../src/rpc/table.ts'
import { Tokens } from '../../src/rpc/tokens.ts'
import { framePorts } from '../support/framePorts.ts'
import { missingShared, readSharedJson, sharedPath } from '../support/shared.ts'
import { reached, valueFor } from './reachedTable.ts'
import { silentLog } from './stubTable.ts'

const missing = missingShared('data/golden/nv17/chain.car.zst')
const VERSIONS: readonly ApiVersion[] = ['v0', 'v1', 'v2']
/** Rows that Lotus does not have, each with what it must need. */
const OWN: Readonly<Record<string, string>> = {
  ChainGetTransfers: 'read',
  ChainGetTransfersSince: 'read',
  ChainListTransfers: 'read',
  ChainListMessages: 'read',
  ChainListLogs: 'read',
  MpoolExplain: 'read',
  AuthNewToken: 'admin',
  AuthRevoke: 'admin',
  LightStatus: 'read',
  SyncPresumed: 'read',
}

/** What a way in gives for a call: the text of the error. */
type Ask = (row: MethodRow, params: Json[]) => Promise<string>

describe.skipIf(missing !== undefined)('every method', () => {
  let recorded: RecordedNode
  let table: MethodTable
  let engine: RpcEngine
  let handler: HttpHandler
  let server: Listening
  let nowMs = 1_700_000_000_000
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const tokensOf = (secret: number): Tokens =>
    new Tokens({ secret: new Uint8Array(32).fill(secret), clock, random: systemRandom, store: new MemoryStore() })
  const tokens = tokensOf(7)
  const good: readonly (readonly [string | undefined, readonly string[]])[] = [
    [undefined, ['read']],
    [tokens.issue([]), []],
    [tokens.issue(null), []],
    ...PERMISSIONS.map((one) => [tokens.issue([one]), [one]] as const),
    [tokens.issue(PERMISSIONS), PERMISSIONS],
  ]
  const admin = tokens.issue(PERMISSIONS)
  const bad: [string, string][] = [
    ['of another node', tokensOf(8).issue(PERMISSIONS)],
    ['with another end', `${admin}x`],
    ['without a signature', admin.slice(0, admin.lastIndexOf('.') + 1)],
  ]

  beforeAll(async () => {
    recorded = await openRecorded(sharedPath('data/golden/nv17'))
    table = recorded.node.table
    engine = new RpcEngine({
      table: createMethodTable(table.rows.map(reached)),
      json: { addressPrefix: 't' },
      log: silentLog,
    })
    handler = new HttpHandler(engine, { verifier: tokens })
    server = await startServer({ handler, engine, log: silentLog, host: '127.0.0.1', port: 0, closeGraceMs: 0 })
    const revoked = tokens.issueUnique([...PERMISSIONS])
    const expired = tokens.issueUnique([...PERMISSIONS], 60)
    await tokens.revoke(revoked)
    nowMs += 61_000
    bad.push(['that is revoked', revoked], ['that has expired', expired])
  }, 120_000)
  afterAll(async () => {
    await server?.close()
    await recorded?.close()
  })

  const expected = new Map(
    missing === undefined
      ? readSharedJson<{ name: string; perm: string }[]>('reference/rpc-methods.json').map(({ name, perm }) => [
          name,
          perm,
        ])
      : [],
  )
  /** Asks for all rows, and compares. @returns how many calls there were */
  async function askAll(
    version: ApiVersion,
    permissions: readonly string[],
    ask: Ask,
    isAsked: (row: MethodRow) => boolean = () => true,
  ): Promise<number> {
    const rows = table.list(version).filter(isAsked)
    await Promise.all(
      rows.map(async (row) => {
        const needed = expected.get(row.name) ?? OWN[row.name]
        const text = permissions.includes(needed ?? '')
          ? 'reached'
          : `missing permission to invoke '${row.permName ?? row.name}' (need '${needed}')`
        expect(await ask(row, row.params.map(valueFor)), `${version} ${row.name} with [${permissions.join()}]`).toBe(
          text,
        )
      }),
    )
    return rows.length
  }
  const messageOf = async (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'no error',
      (error: Error) => error.message,
    )
  const url = (protocol: 'http' | 'ws', version: string): string =>
    `${protocol}://127.0.0.1:${server.port}/rpc/${version}`
  const post = async (version: string, body: Json, token: string | undefined): Promise<Response> =>
    fetch(url('http', version), {
      method: 'POST',
      body: stringifyJson(body),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
  const socket = (version: string, token: string | undefined): WebSocket =>
    new WebSocket(`${url('ws', version)}${token === undefined ? '' : `?token=${token}`}`)

  it('over HTTP', async () => {
    let calls = 0
    for (const version of VERSIONS) {
      for (const [token, permissions] of good) {
        const ask: Ask = async ({ name }, params) => {
          const response = await post(version, { jsonrpc: '2.0', id: 1, method: `Filecoin.${name}`, params }, token)
          return ((await response.json()) as { error: { message: string } }).error.message
        }
        calls += await askAll(version, permissions, ask, ({ kind }) => kind !== 'channel')
        // A channel needs a connection that stays.
        for (const row of table.list(version).filter(({ kind }) => kind === 'channel')) {
          expect(await ask(row, row.params.map(valueFor))).toContain('not supported in this mode')
        }
      }
    }
    expect(calls).toBeGreaterThan(2500)
    for (const [what, token] of bad) {
      for (const version of VERSIONS) {
        for (const { name } of table.list(version)) {
          const { status } = await post(
            version,
            { jsonrpc: '2.0', id: 1, method: `Filecoin.${name}`, params: [] },
            token,
          )
          expect(status, `${name} with a token ${what}`).toBe(401)
        }
      }
    }
  }, 120_000)

  const over =
    (transport: Pick<TabTransport, 'request' | 'subscribe'>): Ask =>
    ({ name, kind }, params) =>
      messageOf(
        kind === 'channel'
          ? transport.subscribe(`Filecoin.${name}`, params, { value: () => undefined })
          : transport.request(`Filecoin.${name}`, params),
      )

  it('over WebSocket', async () => {
    for (const version of VERSIONS) {
      for (const [token, permissions] of good) {
        const transport = await openWebSocket(() => socket(version, token))
        await askAll(version, permissions, over(transport))
        transport.close()
      }
      for (const [what, token] of bad) {
        await expect(
          openWebSocket(() => socket(version, token)),
          what,
        ).rejects.toMatchObject({ code: 'UNREACHABLE' })
      }
    }
  }, 120_000)

  it('over a port of a tab', async () => {
    const sessions = new PortSessions()
    sessions.use((request, receiver) =>
      Promise.resolve().then(() =>
        openSession({ node: { engine, handler }, settle: () => undefined }, request, receiver),
      ),
    )
    const connect = (version: 'v0' | 'v1', token: string | undefined): TabTransport => {
      const [port1, port2] = framePorts()
      sessions.add({ access: { as: 'token', token: token ?? '' }, version }, port2)
      return new TabTransport(port1)
    }
    for (const version of ['v0', 'v1'] as const) {
      for (const [token, permissions] of good) {
        const transport = connect(version, token)
        await askAll(version, permissions, over(transport))
        transport.close()
      }
      for (const [what, token] of bad) {
        const refused = connect(version, token)
        expect(await messageOf(refused.request('Filecoin.ChainHead', [])), what).toContain('does not accept the token')
      }
    }
  }, 120_000)

  it('from the command line', async () => {
    const signal = new AbortController().signal
    const client = (token: string | undefined): ReturnType<typeof createRpcClient> =>
      createRpcClient(
        parseApiInfo(`${token === undefined ? '' : `${token}:`}/ip4/127.0.0.1/tcp/${server.port}/http`),
        signal,
      )
    for (const version of ['v0', 'v1'] as const) {
      for (const [token, permissions] of good) {
        const { call, listen } = client(token)
        await askAll(
          version,
          permissions,
          ({ name, kind }, params) =>
            messageOf(
              kind === 'channel'
                ? listen(name as 'MpoolSub', () => undefined)
                : call(name as 'ChainHead', params as never, version as never),
            ),
          // Its channels have no parameters; it exports by way of WebSocket.
          ({ kind, params }) => kind !== 'channel' || (version === 'v0' && params.length === 0),
        )
      }
      for (const [what, token] of bad) {
        for (const { name } of table.list(version)) {
          const text = await messageOf(client(token).call(name as 'ChainHead', [] as never, version as never))
          expect(text, `${name} with a token ${what}`).toMatch(/401|refused the token|not accept/)
        }
      }
    }
  }, 120_000)
})
