/** The servers of a URL, asked in turn; each is a few bytes. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import type { Connection } from '../../platform/server/index/connection.ts'
import { Servers } from '../../platform/server/index/servers.ts'
import { utf8 } from '../../src/base/bytes.ts'
import { timers } from './writers.ts'

/** `ReadyForQuery`. @see PostgreSQL's documentation, Message Formats */
const READY = Uint8Array.of(0x5a, 0, 0, 0, 5, 0x49)
/** `AuthenticationOk`. */
const WELCOME = Uint8Array.of(0x52, 0, 0, 0, 8, 0, 0, 0, 0)
const REFUSED = '42883'
const FIELDS = utf8(`SERROR\0C${REFUSED}\0Mno such function\0\0`)
/** `ErrorResponse`: what a provider says who does not tell its history. */
const REFUSAL = Uint8Array.of(0x45, 0, 0, 0, 4 + FIELDS.length, ...FIELDS)

const opened: Server[] = []
const sockets = new Set<Socket>()
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of opened.splice(0)) server.close()
  sockets.clear()
})

interface Asked {
  readonly host: string
  /** Connections so far. */
  readonly times: () => number
}

async function listening(serve: (socket: Socket) => void, address = '127.0.0.1'): Promise<Asked> {
  let times = 0
  const server = createServer((socket) => {
    times++
    sockets.add(socket)
    socket.on('error', () => undefined)
    serve(socket)
  }).listen(0, address)
  opened.push(server)
  await once(server, 'listening')
  const { port, family } = server.address() as AddressInfo
  return { host: `${family === 'IPv6' ? `[${address}]` : address}:${port}`, times: () => times }
}

/** Lets in whoever comes, and refuses each question. */
const good = (address?: string): Promise<Asked> =>
  listening((socket) => {
    socket.once('data', () => {
      socket.write(WELCOME)
      socket.write(READY)
      socket.on('data', () => {
        socket.write(REFUSAL)
        socket.write(READY)
      })
    })
  }, address)

const inTurn = (...servers: readonly { readonly host: string }[]): Servers =>
  new Servers(`postgres://petrel@${servers.map(({ host }) => host).join()}/chain`, timers)

/** A connection is good once it has answered. */
const answers = async (on: Connection): Promise<void> => {
  const problem = await on.query('select 1').catch((error: unknown) => error)
  if ((problem as { code?: string }).code !== REFUSED) throw problem
}

const GONE = { host: '127.0.0.1:1' }

test.each([
  ['at once', (socket: Socket) => void socket.end()],
  ['when it is greeted', (socket: Socket) => void socket.once('data', () => socket.end())],
  ['with a reset', (socket: Socket) => void socket.once('data', () => socket.resetAndDestroy())],
])('a proxy without a server behind it, that closes %s, is asked once; then the next', async (_when, close) => {
  const [proxy, behind] = [await listening(close), await good()]
  const servers = inTurn(proxy, behind)
  for (let i = 0; i < 2; i++) {
    const on = await servers.connect(answers)
    await on.close()
  }
  // The one that was good is asked first from then on.
  expect([proxy.times(), behind.times()]).toEqual([1, 2])
})

const hasIpv6 = Object.values(networkInterfaces()).some((own) => own?.some(({ address }) => address === '::1'))
test.skipIf(!hasIpv6)('a server with an IPv6 address is reached', async () => {
  const only = await good('::1')
  await (await inTurn(only).connect(answers)).close()
  expect(only.times()).toBe(1)
})

test('where every server closes the connection the failure says so', async () => {
  const proxy = await listening((socket) => void socket.end())
  await expect(inTurn(proxy).connect(answers)).rejects.toMatchObject({
    code: 'CONNECTION_LOST',
    message: `postgres://petrel@${proxy.host}/chain closed the connection before it was ready`,
  })
  expect(proxy.times()).toBe(1)
})

test.each([2, 3, 4])(
  '%i connections that are made at once all find the good server behind one that is gone',
  async (count) => {
    const behind = await good()
    const servers = inTurn(GONE, behind)
    const made = await Promise.all(Array.from({ length: count }, () => servers.connect(answers)))
    expect(behind.times()).toBe(count)
    await Promise.all(made.map((on) => on.close()))
  },
)
