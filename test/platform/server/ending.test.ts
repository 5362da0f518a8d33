/** Servers that end, and what they refuse: the node's, and that of a thread of reads with a node behind it. Real sockets. */
import { Agent, request as openRequest } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock, systemTimers } from '../../../platform/server/clock.ts'
import { startServer } from '../../../platform/server/httpServer.ts'
import { PassOn } from '../../../platform/server/readers/passOn.ts'
import { startReaderServer } from '../../../platform/server/readers/readerServer.ts'
import type { Listening } from '../../../platform/server/rpcServer.ts'
import { TrustedProxies } from '../../../platform/server/trustedProxies.ts'
import { MAX_CONNECTIONS } from '../../../src/base/bounds.ts'
import { OwnCount } from '../../../src/base/count.ts'
import { CostQueues } from '../../../src/rpc/cost.ts'
import { RpcEngine } from '../../../src/rpc/engine.ts'
import type { HttpHandler } from '../../../src/rpc/http.ts'
import type { HttpRequest, HttpResponse } from '../../../src/rpc/httpMessage.ts'
import { createMethodTable } from '../../../src/rpc/table.ts'
import { silentLog } from '../../support/recordedView.ts'

/** Longer than the test may take: nothing is to wait for that. */
const GRACE_MS = 600_000
const SECRET = 'secret'
const NO_PROXIES = new TrustedProxies([])
const UNAUTHORIZED: HttpResponse = { status: 401, headers: {}, body: '' }

/** Answers when it is told to. */
class Slow {
  readonly asked: Promise<void>
  readonly maxRequestBytes = 1e9
  readonly #answered = Promise.withResolvers<HttpResponse>()
  readonly #asked = Promise.withResolvers<void>()

  constructor() {
    this.asked = this.#asked.promise
  }

  admit(request: Pick<HttpRequest, 'header'>): HttpResponse | number {
    return request.header('authorization') === undefined ? this.maxRequestBytes : UNAUTHORIZED
  }

  admitSocket(): unknown {
    return { permissions: () => new Set(['read']), maxFrameBytes: 1000, name: { name: '', hasToken: false } }
  }

  handle(): Promise<HttpResponse> {
    this.#asked.resolve()
    return this.#answered.promise
  }

  answer(): void {
    this.#answered.resolve({ status: 200, headers: {}, body: 'pushed' })
  }
}

const agent = new Agent({ keepAlive: true })
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  agent.destroy()
  await Promise.all(opened.splice(0).map((server) => server.close()))
})

function ask(port: number, body: string, headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = openRequest({ host: '127.0.0.1', port, agent, method: 'POST', path: '/rpc/v1', headers })
    asked.on('response', (answer) => {
      let text = `${answer.statusCode} `
      answer.setEncoding('utf8')
      answer.on('data', (part: string) => (text += part))
      answer.on('end', () => resolve(text))
      answer.on('error', reject)
    })
    asked.on('error', reject)
    asked.setHeader('Content-Length', body.length)
    asked.end(body)
  })
}

async function openNode(slow: Slow, behind?: string): Promise<Listening> {
  const engine = new RpcEngine({
    ...{ table: createMethodTable([]), json: { addressPrefix: 't' }, log: silentLog },
    queues: new CostQueues({ clock: systemClock, timers: systemTimers }),
  })
  const server = await startServer({
    ...{ handler: slow as unknown as HttpHandler, engine, log: silentLog, host: '127.0.0.1', port: 0 },
    ...(behind === undefined ? {} : { behind }),
    closeGraceMs: GRACE_MS,
  })
  opened.push(server)
  return server
}

/** A thread that leaves all to the node. */
async function openThread(slow: Slow, connections = new OwnCount()): Promise<Pick<Listening, 'port' | 'close'>> {
  const { port } = await openNode(slow, SECRET)
  const reader = { admit: (request: HttpRequest) => slow.admit(request), answer: () => Promise.resolve(undefined) }
  const server = await startReaderServer({
    ...{
      reader: reader as never,
      proxies: NO_PROXIES,
      passOn: new PassOn({ port, secret: SECRET }, NO_PROXIES),
      counts: { of: (kind) => (kind === 'connections' ? connections : new OwnCount()) },
    },
    ...{ isCurrent: () => true, log: silentLog, host: '127.0.0.1', port: 0, closeGraceMs: GRACE_MS },
  })
  opened.push(server)
  return server
}

describe.each(Object.entries({ 'the node': openNode, 'a thread of reads': openThread }))(
  'the server of %s',
  (_, open: (slow: Slow) => Promise<Pick<Listening, 'port' | 'close'>>) => {
    it('ends when the answers under way have left, though their clients would keep the connection', async () => {
      const slow = new Slow()
      const server = await open(slow)
      const answer = ask(server.port, '{}')
      await slow.asked
      const closed = server.close()
      slow.answer()
      expect(await answer).toBe('200 pushed')
      await closed
    })

    it('ends at once where only WebSockets are open', async () => {
      const server = await open(new Slow())
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}/rpc/v1`)
      await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
      const gone = new Promise((resolve) => socket.on('close', resolve))
      await server.close()
      await gone
    })

    it('answers HTTP/1.0 without a Host, as a load balancer asks for its health', async () => {
      const slow = new Slow()
      const server = await open(slow)
      slow.answer()
      const socket = connect(server.port, '127.0.0.1')
      socket.write('GET /health/readyz HTTP/1.0\r\n\r\n')
      let answer = ''
      for await (const part of socket) answer += String(part)
      expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\npushed$/)
    })

    it('says to a caller why it is refused, whatever it is sending', async () => {
      const server = await open(new Slow())
      const refused = await ask(server.port, 'x'.repeat(20_000_000), { authorization: 'Bearer x.y.z' })
      expect(refused).toBe('401 ')
    })
  },
)

it('a thread of reads opens no WebSocket above the bound of connections', async () => {
  const connections = new OwnCount()
  connections.add(MAX_CONNECTIONS)
  const { port } = await openThread(new Slow(), connections)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc/v1`)
  const heard = await new Promise((resolve) =>
    socket.on('open', () => resolve('open')).on('error', () => resolve('error')),
  )
  socket.terminate()
  expect(heard).toBe('error')
})
