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
import type { Held, Room } from '../../src/rpc/held.ts'
import { type AdmittedSocket, apiVersionOf } from '../../src/rpc/http.ts'
import type { HttpResponse } from '../../src/rpc/httpMessage.ts'
import { bringsToken } from '../../src/rpc/requestToken.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { placeOf } from './callerPlace.ts'
import { Connections } from './connections.ts'
import { PlatformError, systemCode } from './errors.ts'
import { ConnectionSignals, NodeRequest, respond, stream } from './nodeRequest.ts'
import { PacedWriter, untilTaken } from './pacedWriter.ts'
import { Pipelines } from './pipelines.ts'
import { FOR_HEADER } from './readers/passOn.ts'
import { Bodies, readBody } from './requestBodies.ts'
import type { Listening, ServerOptions } from './rpcServer.ts'
import { TrustedProxies } from './trustedProxies.ts'
import { UnfinishedFrame } from './unfinishedFrames.ts'
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

const NO_PROXIES = new TrustedProxies([])

/** Whoever reaches the port of this process' own threads and is none of them. */
const STRANGER: HttpResponse = { status: 403, headers: {}, body: '' }

/**
 * Address of who asks, which a thread of this process says of its client.
 * @returns undefined where it is none of the threads
 */
function clientOf(message: IncomingMessage, { behind, proxies = NO_PROXIES }: ServerOptions): string | undefined {
  if (behind === undefined) return proxies.clientOf(message)
  const said = message.headers[FOR_HEADER]
  if (typeof said !== 'string') return undefined
  const [expected, given] = [utf8(`${behind} `), utf8(said.slice(0, behind.length + 1))]
  // How long it takes says nothing of how much of the secret was right.
  return given.length === expected.length && timingSafeEqual(given, expected)
    ? said.slice(behind.length + 1)
    : undefined
}

/** As ws refuses: whose client goes on sending would not hear of its end, which counts as a connection until then. */
function refuseUpgrade(socket: Duplex, status: number): void {
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/** RFC 6455, 7.4.1: what the endpoint has received is against its policy; it cannot go on. */
const POLICY_VIOLATION = 1008
const INTERNAL_ERROR = 1011

/** What a WebSocket's session is made of. */
interface SocketParts extends Pick<ServerOptions, 'engine' | 'log'> {
  readonly unread: UnreadAnswers
  readonly room: Room
  readonly connection: Duplex
}

/** Connects a WebSocket with a session, and pings it. */
function startSession(
  socket: WebSocket,
  { engine, log, unread, room, connection }: SocketParts,
  url: string,
  { permissions, name }: AdmittedSocket,
): void {
  const version = apiVersionOf(url)
  if (version === undefined) return
  let behind = 0
  let isOver = false
  /** Counts what the client has not taken. */
  const count = (): void => unread.set(connection, isOver ? 0 : socket.bufferedAmount + behind)
  const sent = (): void => {
    count()
    session.drained()
  }
  const close = (code: number, reason: string): void => {
    socket.close(code, reason)
    // Who does not read does not hear of it either.
    socket.resume()
    setTimeout(() => socket.terminate(), CLOSE_TIME_MS).unref()
  }
  const session: RpcSession = new RpcSession({
    engine,
    version,
    permissions,
    name,
    room,
    sink: {
      send: (text) => {
        socket.send(text, sent)
        count()
      },
      unreadBytes: () => socket.bufferedAmount,
      hold: (isHeld) => (isHeld ? socket.pause() : socket.resume()),
      close: (reason) => close(POLICY_VIOLATION, reason),
      parts: {
        open: async () => {
          if (connection.writableNeedDrain && !connection.destroyed) await untilTaken(connection)
          const write = (stretch: string, fin: boolean): boolean => {
            socket.send(stretch, { fin }, sent)
            return !connection.writableNeedDrain
          }
          const writer = new PacedWriter({ to: connection, write, count })
          return (text, isLast) => writer.write(text, isLast)
        },
        behind: (bytes) => {
          behind = bytes
          count()
        },
        fail: (error) => {
          log.error('an answer has ended in its midst', { message: errorMessage(error) })
          close(INTERNAL_ERROR, 'an answer has ended in its midst')
        },
      },
    },
  })
  const frame = new UnfinishedFrame(connection, socket, room, () => performance.now())
  const ping = setInterval(() => {
    if (frame.isLate) return socket.terminate()
    socket.ping()
    session.checkToken()
  }, PING_INTERVAL_MS)
  ping.unref()
  socket.on('message', (data) => {
    try {
      session.receive(
        Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? new Uint8Array(data) : data,
      )
    } catch (error) {
      log.error('a WebSocket has failed', { message: errorMessage(error) })
      socket.terminate()
    }
  })
  // 'close' follows every 'error'.
  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(ping)
    isOver = true
    count()
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
  options: ServerOptions,
  { connections, unread, bodies }: ServerParts,
  message: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const { handler, engine, log } = options
  const client = clientOf(message, options)
  if (client === undefined) return refuseUpgrade(socket, STRANGER.status)
  const request = new NodeRequest(message, new AbortController().signal, client)
  const admitted = handler.admitSocket(request)
  if ('status' in admitted) return refuseUpgrade(socket, admitted.status)
  const server = admitted.maxFrameBytes > MAX_ANONYMOUS_REQUEST_BYTES ? sockets.trusted : sockets.anonymous
  const { hasToken } = admitted.name
  const room = bodies.of(hasToken ? undefined : placeOf(client))
  server.handleUpgrade(message, socket, head, (open) => {
    connections.is('socket', message.socket, hasToken)
    startSession(open, { engine, log, unread, room, connection: socket }, request.url, admitted)
  })
}

/** What the requests and the WebSockets of a server share. */
interface ServerParts {
  readonly connections: Connections
  readonly unread: UnreadAnswers
  readonly bodies: Bodies
}

function onRequest(
  options: ServerOptions,
  { connections, unread, bodies }: ServerParts,
): (message: IncomingMessage, response: ServerResponse) => void {
  const { handler, log, watch } = options
  const signals = new ConnectionSignals()
  const pipelines = new Pipelines()
  /** Counted until it has left, or its client has. Until its answer is made the request is in memory. */
  const send = (response: ServerResponse, answer: HttpResponse, keepOpen: boolean, held: Held): void => {
    if (answer.rest !== undefined) {
      void stream(response, answer, answer.rest, unread)
        .catch((error: unknown) => {
          // Who went away has no answer to miss.
          if (!response.destroyed) log.error('a stream has ended', { message: errorMessage(error) })
          response.destroy()
        })
        .finally(() => held.free())
      return
    }
    held.free()
    respond(response, answer, keepOpen)
    if (response.writableFinished || response.destroyed) return
    unread.set(response, answer.pieces === undefined ? answer.body.length : lengthOf(answer.pieces))
  }
  const broken = (error: unknown, response: ServerResponse, held: Held): void => {
    held.free()
    log.error('cannot answer a request', { message: errorMessage(error) })
    respond(response, { status: 500, headers: {}, body: '' }, false)
  }
  const begin = (message: IncomingMessage, response: ServerResponse): void => {
    const { socket } = message
    response.once('finish', () => {
      if (pipelines.left(socket)) connections.is('idle', socket)
    })
    if (!connections.admits(socket)) return respond(response, TOO_MANY_CONNECTIONS, false)
    response.once('close', () => unread.set(response, 0))
    const client = clientOf(message, options)
    if (client === undefined) return respond(response, STRANGER, false)
    const isLast = watch?.asked(socket) === true
    const request = new NodeRequest(message, signals.of(socket), client)
    const hasToken = bringsToken(request)
    // Elsewhere nobody has looked at it yet.
    const isKnown = hasToken && apiVersionOf(request.url) !== undefined
    connections.is('reading', socket, isKnown)
    const limit = handler.admit(request)
    // A preflight has no token, and its answer is not of this kind.
    if (typeof limit !== 'number' && message.method !== 'OPTIONS') return respond(response, limit, false)
    const room = bodies.of(isKnown ? undefined : request.address)
    readBody(message, typeof limit === 'number' ? limit : 0, room, (body, whole, held) => {
      connections.is('answering', socket, hasToken)
      if (body === undefined) return respond(response, TOO_BUSY, false)
      request.body = body
      request.held = held
      try {
        const answer = handler.handle(request)
        const keepOpen = whole && !isLast
        if (answer instanceof Promise) {
          void answer.then(
            (late) => send(response, late, keepOpen, held),
            (error: unknown) => broken(error, response, held),
          )
          return
        }
        send(response, answer, keepOpen, held)
      } catch (error) {
        broken(error, response, held)
      }
    })
  }
  return (message, response) => {
    const room = (): Room => bodies.of(placeOf(clientOf(message, options) ?? ''))
    pipelines.begin(message.socket, room, () => begin(message, response))
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
  const bodies = new Bodies(() => Math.max(MAX_BODIES_BYTES, handler.maxRequestBytes), counts?.of('bodies'))
  const parts: ServerParts = { connections, unread, bodies }
  // A thread has seen to it; what came to it as HTTP/1.0 needs none, and is passed on as HTTP/1.1.
  const server = createServer({ requireHostHeader: options.behind === undefined }, onRequest(options, parts))
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
    try {
      upgrade(sockets, options, parts, message, socket, head)
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
