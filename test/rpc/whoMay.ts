/**
 * Who may do what: every method of a table by every of its names, with every permission and with every kind of void token, over
 * every way in: HTTP, WebSocket, the port of a tab, the command line.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSession } from '../../platform/browser/frames.ts'
import { PortSessions } from '../../platform/browser/portSessions.ts'
import { TabTransport } from '../../platform/browser/tabTransport.ts'
import { createRpcClient, parseApiInfo } from '../../platform/cli/rpcClient.ts'
import { startServer } from '../../platform/server/httpServer.ts'
import { systemRandom } from '../../platform/server/random.ts'
import type { Listening } from '../../platform/server/rpcServer.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { stringifyJson } from '../../src/codec/jsonText.ts'
import { openWebSocket } from '../../src/rpc/client/webSocketTransport.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import type { ApiVersion, MethodRow } from '../../src/rpc/method.ts'
import { PERMISSIONS } from '../../src/rpc/permission.ts'
import { createMethodTable, type MethodTable, NAMESPACES } from '../../src/rpc/table.ts'
import { Tokens } from '../../src/rpc/tokens.ts'
import { framePorts } from '../support/framePorts.ts'
import { reached, valueFor } from './reachedTable.ts'
import { silentLog } from './stubTable.ts'

const VERSIONS: readonly ApiVersion[] = ['v0', 'v1', 'v2']

/** What is asked, and what is expected. */
export interface Asked {
  /** The rows, and what ends what they are of. */
  readonly open: () => Promise<{ readonly rows: readonly MethodRow[]; readonly close: () => Promise<void> }>
  /** Permission that a method must need, by its name: from outside. */
  readonly needed: Readonly<Record<string, string>>
  /** Full names that must be served: without them nothing would be asked. */
  readonly served: readonly string[]
}

/** What a way in gives for a call by that full name: the text of the error. */
type Ask = (row: MethodRow, params: Json[], fullName: string) => Promise<string>

/** All full names of a row. */
function namesOf({ name, aliases }: MethodRow): string[] {
  return [...NAMESPACES.map((namespace) => `${namespace}.${name}`), ...aliases]
}

/** Defines the suite for a table. */
export function whoMay(what: string, { open, needed, served }: Asked): void {
  describe(what, () => {
    let closeRows: (() => Promise<void>) | undefined
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
      const { rows, close } = await open()
      closeRows = close
      table = createMethodTable(rows.map(reached))
      engine = new RpcEngine({ table, json: { addressPrefix: 't' }, log: silentLog })
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
      await closeRows?.()
    })

    /** Asks for all rows by those of their names, and compares. */
    async function askAll(
      version: ApiVersion,
      permissions: readonly string[],
      ask: Ask,
      { isAsked = () => true, names = namesOf }: { isAsked?(row: MethodRow): boolean; names?: typeof namesOf } = {},
    ): Promise<void> {
      const calls = table.list(version).filter(isAsked)
      await Promise.all(
        calls
          .flatMap((row) => names(row).map((name) => [row, name] as const))
          .map(async ([row, name]) => {
            const text = permissions.includes(needed[row.name] ?? '')
              ? 'reached'
              : `missing permission to invoke '${row.permName ?? row.name}' (need '${needed[row.name]}')`
            const answer = await ask(row, row.params.map(valueFor), name)
            expect(answer, `${version} ${name} with [${permissions.join()}]`).toBe(text)
          }),
      )
    }
    const onlyFirst = (row: MethodRow): string[] => namesOf(row).slice(0, 1)
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

    it('is all there', () => {
      const names = VERSIONS.flatMap((version) => table.list(version).flatMap(namesOf))
      expect(served.filter((name) => !names.includes(name))).toEqual([])
    })

    it('over HTTP', async () => {
      for (const version of VERSIONS) {
        for (const [token, permissions] of good) {
          const ask: Ask = async (_, params, name) => {
            const response = await post(version, { jsonrpc: '2.0', id: 1, method: name, params }, token)
            return ((await response.json()) as { error: { message: string } }).error.message
          }
          await askAll(version, permissions, ask, {
            isAsked: ({ kind }) => kind !== 'channel',
            // A connection that stays is asked by all names.
            names: (row) => [...onlyFirst(row), ...row.aliases],
          })
          // A channel needs a connection that stays.
          for (const row of table.list(version).filter(({ kind }) => kind === 'channel'))
            for (const name of namesOf(row))
              expect(await ask(row, row.params.map(valueFor), name)).toContain('not supported in this mode')
        }
      }
      for (const [fault, token] of bad) {
        for (const version of VERSIONS) {
          for (const { name } of table.list(version)) {
            const body = { jsonrpc: '2.0', id: 1, method: `Filecoin.${name}`, params: [] }
            const { status } = await post(version, body, token)
            expect(status, `${name} with a token ${fault}`).toBe(401)
          }
        }
      }
    }, 120_000)

    const over =
      (transport: Pick<TabTransport, 'request' | 'subscribe'>): Ask =>
      ({ kind }, params, name) =>
        messageOf(
          kind === 'channel'
            ? transport.subscribe(name, params, { value: () => undefined })
            : transport.request(name, params),
        )

    it('over WebSocket', async () => {
      for (const version of VERSIONS) {
        for (const [token, permissions] of good) {
          const transport = await openWebSocket(() => socket(version, token))
          await askAll(version, permissions, over(transport))
          transport.close()
        }
        for (const [fault, token] of bad) {
          await expect(
            openWebSocket(() => socket(version, token)),
            fault,
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
        for (const [fault, token] of bad) {
          const refused = connect(version, token)
          const text = await messageOf(refused.request('Filecoin.ChainHead', []))
          expect(text, fault).toContain('does not accept the token')
        }
      }
    }, 120_000)

    it('from the command line', async () => {
      const signal = new AbortController().signal
      const client = (token: string | undefined, path: string): ReturnType<typeof createRpcClient> =>
        createRpcClient(
          parseApiInfo(`${token === undefined ? '' : `${token}:`}http://127.0.0.1:${server.port}${path}`),
          signal,
        )
      // It has no calls of v2; whoever names that path is answered on the other two.
      for (const [version, path] of [
        ['v0', ''],
        ['v1', ''],
        ['v0', '/rpc/v2'],
      ] as const) {
        for (const [token, permissions] of good) {
          const { call, listen } = client(token, path)
          const ask: Ask = ({ name, kind }, params) =>
            messageOf(
              kind === 'channel'
                ? listen(name as 'MpoolSub', () => undefined)
                : call(name as 'ChainHead', params as never, version as never),
            )
          await askAll(version, permissions, ask, {
            // Its channels have no parameters; it exports by way of WebSocket.
            isAsked: ({ kind, params }) => kind !== 'channel' || (version === 'v0' && params.length === 0),
            names: onlyFirst,
          })
        }
        for (const [fault, token] of bad) {
          for (const { name } of table.list(version)) {
            const text = await messageOf(client(token, path).call(name as 'ChainHead', [] as never, version as never))
            expect(text, `${name} with a token ${fault}`).toMatch(/401|refused the token|not accept/)
          }
        }
      }
    }, 120_000)
  })
}
