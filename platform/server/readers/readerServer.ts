/** The server of a thread that answers reads: on the API's port, beside the node. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MAX_BODIES_BYTES, PING_INTERVAL_MS } from '../../../src/base/bounds.ts'
import { errorMessage } from '../../../src/base/errors.ts'
import type { Logger } from '../../../src/base/ports.ts'
import type { Reader } from '../../../src/node/reader.ts'
import { apiVersionOf } from '../../../src/rpc/http.ts'
import type { HttpResponse } from '../../../src/rpc/httpMessage.ts'
import { bringsToken } from '../../../src/rpc/requestToken.ts'
import { placeOf } from '../callerPlace.ts'
import { Connections } from '../connections.ts'
import { ConnectionSignals, NodeRequest, respond, stream } from '../nodeRequest.ts'
import { Pipelines } from '../pipelines.ts'
import { Bodies, readBody } from '../requestBodies.ts'
import type { Listening } from '../rpcServer.ts'
import type { TrustedProxies } from '../trustedProxies.ts'
import { UnreadAnswers } from '../unreadAnswers.ts'
import type { PassOn } from './passOn.ts'
import type { SharedCounts } from './sharedCounts.ts'

const { createServer } = process.getBuiltinModule('node:http')

/** Questions are short: what is longer holds a message or a batch. */
const MAX_BODY_BYTES = 64 * 1024

/** Too many connections, or requests in memory. */
const BUSY: HttpResponse = { status: 503, headers: { 'Retry-After': '1' }, body: '' }

/** What it is made of. */
export interface ReaderServerDeps {
  readonly reader: Reader
  readonly passOn: PassOn
  readonly proxies: TrustedProxies
  readonly counts: Pick<SharedCounts, 'of'>
  /** Whether the reader knows all that the node has told. */
  isCurrent(): boolean
  readonly log: Logger
  readonly host: string
  readonly port: number
  /** How long `close` waits for answers under way, milliseconds. */
  readonly closeGraceMs: number
}

/** Resolves when it listens. */
export async function startReaderServer(deps: ReaderServerDeps): Promise<Pick<Listening, 'port' | 'close'>> {
  const { passOn, log, counts } = deps
  const connections = new Connections(() => performance.now(), undefined, counts.of('connections'))
  const unread = new UnreadAnswers(undefined, counts.of('unread'))
  const server = createServer(onRequest(deps, connections, unread))
  server.on('connection', (socket) => connections.add(socket))
  const sweep = setInterval(() => connections.sweep(), PING_INTERVAL_MS)
  sweep.unref()
  // As the node's own: see httpServer.
  server.requestTimeout = 0
  server.keepAliveTimeout = 0
  server.on('upgrade', (message, socket, head) => {
    // Turned away, it would be no connection that anybody counts.
    if (!connections.admits(message.socket)) {
      socket.destroy()
      return
    }
    connections.is('socket', message.socket)
    passOn.upgrade(message, socket, head)
  })
  server.on('error', (error) => log.error('a thread of reads has a failing server', { reason: errorMessage(error) }))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: deps.host, port: deps.port, reusePort: true }, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        clearInterval(sweep)
        server.close(() => {
          passOn.close()
          resolve()
        })
        // As the node's own: answers under way still leave.
        connections.end(() => server.closeIdleConnections())
        setTimeout(() => server.closeAllConnections(), deps.closeGraceMs).unref()
      }),
  }
}

function onRequest(
  { reader, passOn, proxies, isCurrent, log, counts }: ReaderServerDeps,
  connections: Connections,
  unread: UnreadAnswers,
): (message: IncomingMessage, response: ServerResponse) => void {
  const signals = new ConnectionSignals()
  const bodies = new Bodies(() => MAX_BODIES_BYTES, counts.of('bodies'))
  const pipelines = new Pipelines()
  const begin = (message: IncomingMessage, response: ServerResponse): void => {
    const { socket } = message
    response.once('finish', () => {
      if (pipelines.left(socket)) connections.is('idle', socket)
    })
    if (!connections.admits(socket)) return respond(response, BUSY, false)
    response.once('close', () => unread.set(response, 0))
    const length = Number(message.headers['content-length'])
    const request = new NodeRequest(message, signals.of(socket), proxies.clientOf(message))
    const hasToken = bringsToken(request)
    connections.is('answering', socket, hasToken)
    const isCall = message.method === 'POST' && apiVersionOf(request.url) !== undefined
    const admitted = isCall && isCurrent() ? reader.admit(request) : undefined
    // Passed on, a large body would still be on its way when the node has refused it and gone: nobody would hear why.
    if (typeof admitted === 'object') return respond(response, admitted, false)
    const most = Math.min(MAX_BODY_BYTES, admitted ?? 0)
    if (admitted === undefined || !(length <= most)) return passOn.request(message, response)
    connections.is('reading', socket)
    readBody(message, MAX_BODY_BYTES, bodies.of(hasToken ? undefined : request.address), (body, _whole, held) => {
      connections.is('answering', socket)
      if (body === undefined) return respond(response, BUSY, false)
      request.body = body
      request.held = held
      void reader
        .answer(request)
        .finally(() => held.free())
        .then(
          (answer) => {
            if (answer === undefined) return passOn.request(message, response, body)
            if (answer.rest === undefined) return respond(response, answer, true)
            return stream(response, answer, answer.rest, unread).catch(() => response.destroy())
          },
          (error: unknown) => {
            log.error('a thread cannot answer a read', { message: errorMessage(error) })
            passOn.request(message, response, body)
          },
        )
    })
  }
  return (message, response) => {
    pipelines.begin(
      message.socket,
      () => bodies.of(placeOf(proxies.clientOf(message))),
      () => begin(message, response),
    )
  }
}
