/**
 * JSON-RPC over HTTP and WebSocket on one port, by node:http itself: every decision is in src/rpc, so a framework would
 * only stand in between. Measured with a ChainHead of 1.6 kB and 8 connections on 2 cores, client included: 11,500
 * requests per second in Node, 12,400 in Deno (Deno.serve: 6,100).
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { MAX_ANONYMOUS_REQUEST_BYTES, MAX_BODIES_BYTES, PING_INTERVAL_MS } from '../../src/base/bounds.ts'
import { lengthOf, utf8 } from '../../src/base/bytes.ts'
import { errorMessage } from '../../src/base/errors.ts'
import type { RpcEngine } from '../../src/rpc/engine.ts'
import { type AdmittedSocket, apiVersionOf } from '../../src/rpc/http.ts'
import type { HttpResponse } from '../../src/rpc/httpMessage.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { Connections } from './connections.ts'
import { PlatformError, systemCode } from './errors.ts'
import { ConnectionSignals, NodeRequest, respond, stream } from './nodeRequest.ts'
import { FOR_HEADER } from './readers/passOn.ts'
import { Bodies } from './requestBodies.ts'
import type { Listening, ServerOptions } from './rpcServer.ts'
import { countRequests } from './sparingHeap.ts'
import { UnreadAnswers } from './unreadAnswers.ts'

// Imported, it would load all that it can name, fetch and WebSocket too: 31 ms of processor time, 13 MB.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
const { timingSafeEqual } = process.getBuiltinModule('node:crypto')

function tooMany(what: string): HttpResponse {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '1' }
  return { status: 503, headers, body: `too many ${what} at once\n` }
}

const TOO_BUSY = tooMany('large requests')
const TOO_MANY_CONNECTIONS = tooMany('connections')

/** Whoever reaches the port of this process' own threads and is none of them. */
const STRANGER: HttpResponse = { status: 403, headers: {}, body: '' }

/**
 * Address of who asks, which a thread of this process says of its client.
 * @param behind - what threads say before it; undefined: clients come themselves
 * @returns undefined where it is none of the threads
 */
function clientOf({ headers, socket }: IncomingMessage, behind: string | undefined): string | undefined {
  if (behind === undefined) return socket.remoteAddress ?? ''
  const said = headers[FOR_HEADER]
  if (typeof said !== 'string') return undefined
  const [expected, given] = [utf8(`${behind} `), utf8(said.slice(0, behind.length + 1))]
  // How long it takes says nothing of how much of the secret was right.
  return given.length === expected.length && timingSafeEqual(given, expected)
    ? said.slice(behind.length + 1)
    : undefined
}

function refuseUpgrade(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/** RFC 6455, 7.4.1: what the endpoint has received is against its policy. */
const POLICY_VIOLATION = 1008

/** Connects a WebSocket with a session, and pings it. */
function startSession(
  socket: WebSocket,
  { engine, unread, connection }: { engine: RpcEngine; unread: UnreadAnswers; connection: Duplex },
  url: string,
  { permissions, name }: AdmittedSocket,
): void {
  const version = apiVersionOf(url)
  if (version === undefined) return
  const session = new RpcSession({
    engine,
    version,
    permissions,
    name,
    sink: {
      send: (text) => {
        socket.send(text, () => {
          unread.set(connection, socket.bufferedAmount)
          session.drained()
        })
        unread.set(connection, socket.bufferedAmount)
      },
      unreadBytes: () => socket.bufferedAmount,
      hold: (isHeld) => (isHeld ? socket.pause() : socket.resume()),
      close: (reason) => {
        socket.close(POLICY_VIOLATION, reason)
        // Who does not read does not hear of it either.
        socket.resume()
        setTimeout(() => socket.terminate(), CLOSE_TIME_MS).unref()
      },
    },
  })
  const ping = setInterval(() => {
    socket.ping()
    session.checkToken()
  }, PING_INTERVAL_MS)
  ping.unref()
  socket.on('message', (data) => {
    session.receive(
      Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? new Uint8Array(data) : data,
    )
  })
  // 'close' follows every 'error'.
  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(ping)
    unread.set(connection, 0)
    session.end()
  })
}

/** How long a client may take to hear that its connection ends. */
const CLOSE_TIME_MS = 1000

/** WebSockets of callers with a token and of those without: the size of a frame is the server's to say. */
interface SocketServers {
  readonly trusted: WebSocketServer
  readonly anonymous: WebSocketServer
}

function socketServer(maxPayload: number): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    maxPayload,
    perMessageDeflate: false,
    // The session drops a frame that is no text; it does not end the connection.
    skipUTF8Validation: true,
  })
}

function upgrade(
  sockets: SocketServers,
  { handler, engine, behind }: ServerOptions,
  unread: UnreadAnswers,
  message: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const client = clientOf(message, behind)
  if (client === undefined) return refuseUpgrade(socket, STRANGER.status)
  const request = new NodeRequest(message, '', new AbortController().signal, client)
  const admitted = handler.admitSocket(request)
  if ('status' in admitted) return refuseUpgrade(socket, admitted.status)
  const server = admitted.maxFrameBytes > MAX_ANONYMOUS_REQUEST_BYTES ? sockets.trusted : sockets.anonymous
  server.handleUpgrade(message, socket, head, (open) =>
    startSession(open, { engine, unread, connection: socket }, request.url, admitted),
  )
}

function onRequest(
  { handler, log, behind, watch, counts }: ServerOptions,
  connections: Connections,
  unread: UnreadAnswers,
): (message: IncomingMessage, response: ServerResponse) => void {
  const signals = new ConnectionSignals()
  const bodies = new Bodies(() => Math.max(MAX_BODIES_BYTES, handler.maxRequestBytes), counts?.of('bodies'))
  /** Counted until it has left, or its client has. */
  const send = (response: ServerResponse, answer: HttpResponse, keepOpen: boolean): void => {
    if (answer.rest !== undefined) {
      stream(response, answer, answer.rest, unread).catch((error: unknown) => {
        log.error('a stream has ended', { message: errorMessage(error) })
        response.destroy()
      })
      return
    }
    respond(response, answer, keepOpen)
    if (response.writableFinished || response.destroyed) return
    unread.set(response, answer.pieces === undefined ? answer.body.length : lengthOf(answer.pieces))
  }
  const broken = (error: unknown, response: ServerResponse): void => {
    log.error('cannot answer a request', { message: errorMessage(error) })
    respond(response, { status: 500, headers: {}, body: '' }, false)
  }
  return (message, response) => {
    const { socket } = message
    if (!connections.admits(socket)) return respond(response, TOO_MANY_CONNECTIONS, false)
    connections.is('reading', socket)
    response.once('finish', () => connections.is('idle', socket))
    response.once('close', () => unread.set(response, 0))
    const client = clientOf(message, behind)
    if (client === undefined) return respond(response, STRANGER, false)
    countRequests(1)
    const isLast = watch?.asked(socket) === true
    const head = new NodeRequest(message, '', signals.of(socket), client)
    const limit = handler.admit(head)
    // A preflight has no token, and its answer is not of this kind.
    if (typeof limit !== 'number' && message.method !== 'OPTIONS') return respond(response, limit, false)
    bodies.read(message, typeof limit === 'number' ? limit : 0, (body, whole, free) => {
      connections.is('answering', socket)
      if (body === undefined) return respond(response, TOO_BUSY, false)
      try {
        const answer = handler.handle(new NodeRequest(message, body, signals.of(socket), client))
        const keepOpen = whole && !isLast
        if (answer instanceof Promise) {
          answer.then(
            (late) => send(response, late, keepOpen),
            (error: unknown) => broken(error, response),
          )
        } else send(response, answer, keepOpen)
      } catch (error) {
        broken(error, response)
      } finally {
        free()
      }
    })
  }
}

function listen(server: Server, { host, port, shared = false }: ServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const used = systemCode(cause) === 'EADDRINUSE'
      const reason = used ? 'the port is in use' : errorMessage(cause)
      const code = used ? 'ADDRESS_IN_USE' : 'LISTEN_FAILED'
      reject(new PlatformError(code, `Cannot listen on ${host}:${port}: ${reason}`, { host, port }, { cause }))
    })
    server.listen({ host, port, reusePort: shared }, () => resolve((server.address() as AddressInfo).port))
  })
}

/**
 * Starts the server.
 * @throws PlatformError ADDRESS_IN_USE; LISTEN_FAILED
 */
export async function startServer(options: ServerOptions): Promise<Listening> {
  const { handler, log, watch, counts } = options
  const connections = new Connections(() => performance.now(), undefined, counts?.of('connections'))
  const unread = new UnreadAnswers(undefined, counts?.of('unread'))
  const server = createServer(onRequest(options, connections, unread))
  server.on('connection', (socket) => {
    connections.add(socket)
    watch?.connected(socket)
  })
  const sweep = setInterval(() => connections.sweep(), PING_INTERVAL_MS)
  sweep.unref()
  // Connections has bounds of its own, which leave a heavy StateCompute the time that it takes.
  server.requestTimeout = 0
  // As Go's server: an idle connection stays, so no client ever loses a request to a connection that is just closing.
  server.keepAliveTimeout = 0
  const sockets: SocketServers = {
    trusted: socketServer(handler.maxRequestBytes),
    anonymous: socketServer(Math.min(MAX_ANONYMOUS_REQUEST_BYTES, handler.maxRequestBytes)),
  }
  server.on('upgrade', (message, socket, head) => {
    socket.on('error', () => socket.destroy())
    if (!connections.admits(message.socket)) return refuseUpgrade(socket, TOO_MANY_CONNECTIONS.status)
    connections.is('socket', message.socket)
    try {
      upgrade(sockets, options, unread, message, socket, head)
    } catch (error) {
      log.error('cannot open a WebSocket', { message: errorMessage(error) })
      socket.destroy()
    }
  })
  const port = await listen(server, options)
  return {
    host: options.host,
    port,
    close: () =>
      new Promise((resolve) => {
        clearInterval(sweep)
        for (const { clients } of [sockets.trusted, sockets.anonymous]) for (const socket of clients) socket.terminate()
        server.close(() => resolve())
        // Answers under way (that of Shutdown itself, for one) still leave; idle connections end now.
        connections.end(() => server.closeIdleConnections())
        setTimeout(() => server.closeAllConnections(), options.closeGraceMs).unref()
      }),
  }
}
