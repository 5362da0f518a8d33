/** Whose word for a client's address counts, alone and through both servers over real sockets. */
import { Agent, type IncomingMessage, request as openRequest } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock, systemTimers } from '../../../platform/server/clock.ts'
import { startServer } from '../../../platform/server/httpServer.ts'
import { PassOn } from '../../../platform/server/readers/passOn.ts'
import { startReaderServer } from '../../../platform/server/readers/readerServer.ts'
import { TrustedProxies } from '../../../platform/server/trustedProxies.ts'
import { MAX_PROXY_HOPS } from '../../../src/base/bounds.ts'
import { OwnCount } from '../../../src/base/count.ts'
import { CostQueues } from '../../../src/rpc/cost.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import type { HttpHandler } from '../../../src/rpc/http.ts'
import type { HttpRequest } from '../../../src/rpc/httpMessage.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { silentLog } from '../../support/recordedView.ts'

const SECRET = 'secret'

function clientOf(proxies: readonly string[], remoteAddress: string | undefined, said?: string): string {
  const headers = said === undefined ? {} : { 'x-forwarded-for': said }
  return new TrustedProxies(proxies).clientOf({ headers, socket: { remoteAddress } } as unknown as IncomingMessage)
}

describe('the address of a client', () => {
  const far = '203.0.113.7'
  it.each([
    ['nobody is trusted', [], '10.0.0.1', far, '10.0.0.1'],
    ['no proxy of ours', ['10.0.0.1'], '10.0.0.2', far, '10.0.0.2'],
    ['a proxy', ['10.0.0.1'], '10.0.0.1', far, far],
    ['a proxy that says nothing', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
    ['a network', ['10.0.0.0/8'], '10.200.3.4', far, far],
    ['as IPv6 writes it', ['10.0.0.0/8'], '::ffff:10.200.3.4', `::ffff:${far}`, far],
    ['IPv6', ['fd00::/8'], 'fd12::1', '2001:db8::5', '2001:db8::5'],
    ['with ports', ['::1'], '::1', '[2001:db8::5]:4711', '2001:db8::5'],
    ['with ports', ['127.0.0.1'], '127.0.0.1', `${far}:4711`, far],
    ['the client says something itself', ['10.0.0.1'], '10.0.0.1', `198.51.100.1, ${far}`, far],
    ['the client names a proxy', ['10.0.0.0/8'], '10.0.0.1', `10.9.9.9, ${far}`, far],
    ['two proxies', ['10.0.0.0/8'], '10.0.0.1', `198.51.100.1, ${far}, 10.0.0.2`, far],
    ['only proxies', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['no address', ['10.0.0.1'], '10.0.0.1', 'unknown', '10.0.0.1'],
    ['no address behind a proxy', ['10.0.0.0/8'], '10.0.0.1', `${far}, _hidden, 10.0.0.2`, '10.0.0.2'],
    ['a zone', ['10.0.0.1'], '10.0.0.1', 'fe80::1%eth0', '10.0.0.1'],
    ['an empty part', ['10.0.0.1'], '10.0.0.1', `${far}, `, '10.0.0.1'],
    ['a closed connection', ['10.0.0.1'], undefined, far, ''],
    ['more proxies than anybody has', ['10.0.0.0/8'], '10.0.0.1', Array(5000).fill('10.0.0.2').join(), '10.0.0.2'],
    [
      'the same in front of a client',
      ['10.0.0.0/8'],
      '10.0.0.1',
      [far, ...Array(MAX_PROXY_HOPS - 1).fill('10.0.0.2')].join(),
      far,
    ],
    ['one more', ['10.0.0.0/8'], '10.0.0.1', [far, ...Array(MAX_PROXY_HOPS).fill('10.0.0.2')].join(), '10.0.0.2'],
  ])('%s: %j, from %s, saying %s', (_, proxies, from, said, client) => {
    expect(clientOf(proxies, from, said)).toBe(client)
  })

  it.each(['', 'proxy.example', '10.0.0.0/33', 'fd00::/129', '10.0.0.1/', '10.0.0/8', '10.0.0.1/8/8', 'fe80::1%eth0'])(
    '"%s" is no proxy',
    (text) => {
      expect(() => new TrustedProxies([text])).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    },
  )

  it.each(['0.0.0.0/0', '::/0'])('%s would let everybody choose', (text) => {
    expect(() => new TrustedProxies([text])).toThrow('is everybody')
  })
})

const agent = new Agent({ keepAlive: true })
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  agent.destroy()
  await Promise.all(opened.splice(0).map((server) => server.close()))
})

/** Answers with the address that it took the client for. */
const teller = {
  maxRequestBytes: 1e6,
  admit: () => 1e6,
  handle: ({ address }: HttpRequest) => ({ status: 200, headers: {}, body: address }),
  admitSocket: (request: HttpRequest) => {
    told.push(request.address ?? '')
    return { status: 403, headers: {}, body: '' }
  },
}
const told: string[] = []

async function openNode(proxies: TrustedProxies, behind?: string): Promise<number> {
  const engine = new RpcEngine({
    ...{ table: createMethodTable([]), json: { addressPrefix: 't' }, log: silentLog },
    queues: new CostQueues({ clock: systemClock, timers: systemTimers }),
  })
  const server = await startServer({
    ...{ handler: teller as unknown as HttpHandler, engine, log: silentLog, host: '127.0.0.1', port: 0, proxies },
    ...(behind === undefined ? {} : { behind }),
    closeGraceMs: 0,
  })
  opened.push(server)
  return server.port
}

/** @param answers - whether the thread answers itself; else it leaves all to the node */
async function openThread(proxies: TrustedProxies, answers: boolean): Promise<number> {
  // The node itself trusts nobody here: its threads tell it.
  const port = await openNode(new TrustedProxies([]), SECRET)
  const reader = { admit: () => 1e6, answer: async (one: HttpRequest) => (answers ? teller.handle(one) : undefined) }
  const server = await startReaderServer({
    ...{ reader: reader as never, proxies, passOn: new PassOn({ port, secret: SECRET }, proxies) },
    ...{ counts: { of: () => new OwnCount() }, isCurrent: () => true, log: silentLog },
    ...{ host: '127.0.0.1', port: 0, closeGraceMs: 0 },
  })
  opened.push(server)
  return server.port
}

function ask(port: number, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = openRequest({ host: '127.0.0.1', port, agent, method: 'POST', path: '/rpc/v1', headers })
    asked.on('response', (answer) => {
      let text = ''
      answer.on('data', (part) => (text += String(part)))
      answer.on('end', () => resolve(text))
    })
    asked.on('error', reject)
    asked.end('{}')
  })
}

describe.each([
  ['the node', openNode],
  ['a thread of reads', (proxies: TrustedProxies) => openThread(proxies, true)],
  ['a thread that passes it on', (proxies: TrustedProxies) => openThread(proxies, false)],
])('%s', (_, open) => {
  it('counts the clients of a proxy apart', async () => {
    const port = await open(new TrustedProxies(['127.0.0.1']))
    expect(await ask(port, { 'X-Forwarded-For': '198.51.100.1, 203.0.113.7' })).toBe('203.0.113.7')
    expect(await ask(port, { 'X-Forwarded-For': '2001:db8:1:2:3::5' })).toBe('2001:db8:1:2')
    expect(await ask(port, {})).toBe('127.0.0.1')
  })

  it('believes no stranger', async () => {
    const port = await open(new TrustedProxies(['10.0.0.1']))
    expect(await ask(port, { 'X-Forwarded-For': '203.0.113.7' })).toBe('127.0.0.1')
  })

  it('knows whose a WebSocket is', async () => {
    const port = await open(new TrustedProxies(['127.0.0.1']))
    const headers = { 'X-Forwarded-For': '203.0.113.7' }
    const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc/v1`, { headers })
    await new Promise((resolve) => socket.on('error', resolve))
    expect(told.splice(0)).toEqual(['203.0.113.7'])
  })
})
