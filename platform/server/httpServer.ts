/**
 * JSON-RPC over HTTP and WebSocket on one port, by node:http itself: every decision is in src/rpc, so a framework would
 * only stand in between. Measured with a ChainHead of 1.6 kB and 8 connections on 2 cores, client included: 11,500
 * requests per second in Node, 12,400 in Deno (Deno.serve: 6,100).
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { MAX_ANONYMOUS_REQUEST_BYTES, MAX_BODIES_BYTES, PING_INTERVAL_MS } from '../../src/base/bounds.ts'
import { errorMessage } from '../../src/base/errors.ts'
import type { Logger } from '../../src/base/ports.ts'
import type { RpcEngine } from '../../src/rpc/engine.ts'
import { type AdmittedSocket, apiVersionOf, type HttpHandler } from '../../src/rpc/http.ts'
import type { HttpRequest, HttpResponse } from '../../src/rpc/httpMessage.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { Connections } from './connections.ts'
import { PlatformError, systemCode } from './errors.ts'
import type { Listening, ServerOptions } from './rpcServer.ts'
import { spareHeap } from './sparingHeap.ts'
import { UnreadAnswers } from './unreadAnswers.ts'

// Imported, it would load all that it can name, fetch and WebSocket too: 31 ms of processor time, 13 MB.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')

/** A request of node:http as src/rpc sees it. */
class NodeRequest implements HttpRequest {
  readonly verb: string
  readonly url: string
  readonly body: Uint8Array | string
  readonly signal: AbortSignal
  readonly address: string
  readonly #headers: IncomingMessage['headers']

  constructor(message: IncomingMessage, body: Uint8Array | string, signal: AbortSignal) {
    this.verb = message.method ?? ''
    this.url = message.url ?? ''
    this.body = body
    this.signal = signal
    this.address = message.socket.remoteAddress ?? ''
    this.#headers = message.headers
  }

  header(name: string): string | undefined {
    const value = this.#headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }
}

function tooMany(what: string): HttpResponse {
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '1' }
  return { status: 503, headers, body: `too many ${what} at once\n` }
}

const TOO_BUSY = tooMany('large requests')
const TOO_MANY_CONNECTIONS = tooMany('connections')

/** Request bodies that are in memory, all connections together. */
class Bodies {
  #bytes = 0
  readonly #most: () => number

  constructor(most: () => number) {
    this.#most = most
  }

  /**
   * Reads a body up to `limit + 1` bytes; what is behind is left unread.
   * @param done - called once, unless the connection ends before; undefined: there is no room for it. `free` gives the room
   *   back.
   */
  read(
    message: IncomingMessage,
    limit: number,
    done: (body: Uint8Array | undefined, whole: boolean, free: () => void) => void,
  ): void {
    let first: Uint8Array | undefined
    let rest: Uint8Array[] | undefined
    let length = 0
    const free = (): void => {
      this.#bytes -= length
      length = 0
    }
    const stop = (): void => {
      message.removeListener('data', take)
      message.removeListener('end', end)
      message.removeListener('close', free)
    }
    const finish = (whole: boolean): void => {
      stop()
      if (rest === undefined) done(first ?? new Uint8Array(0), whole, free)
      else done(Buffer.concat([first ?? new Uint8Array(0), ...rest]), whole, free)
    }
    const take = (chunk: Uint8Array): void => {
      if (this.#bytes + chunk.length > this.#most()) {
        message.pause()
        stop()
        free()
        done(undefined, false, free)
        return
      }
      length += chunk.length
      this.#bytes += chunk.length
      if (first === undefined) first = chunk
      else if (rest === undefined) rest = [chunk]
      else rest.push(chunk)
      if (length <= limit) return
      message.pause()
      finish(false)
    }
    const end = (): void => finish(true)
    message.on('data', take)
    message.on('end', end)
    message.on('close', free)
  }
}

function respond(response: ServerResponse, answer: HttpResponse, keepOpen: boolean): void {
  if (response.destroyed) return
  const headers: string[] = []
  for (const name in answer.headers) headers.push(name, answer.headers[name] as string)
  const body = answer.bytes ?? answer.body
  if (answer.status !== 204) headers.push('Content-Length', String(Buffer.byteLength(body)))
  if (!keepOpen) headers.push('Connection', 'close')
  response.writeHead(answer.status, headers)
  // As text: node then writes head and body in one piece.
  response.end(body)
}

/** Writes an answer that goes on. What follows is asked for when the client has taken what came before. */
async function stream(
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  rest: AsyncIterable<string>,
  unread: UnreadAnswers,
): Promise<void> {
  const write = async (part: string): Promise<void> => {
    if (response.destroyed || response.write(part)) return
    unread.set(response, response.writableLength)
    await new Promise<void>((resolve) => {
      const taken = (): void => {
        response.off('drain', taken)
        response.off('close', taken)
        resolve()
      }
      response.on('drain', taken)
      response.on('close', taken)
    })
    unread.set(response, 0)
  }
  response.writeHead(status, headers)
  const sent = spareHeap()
  try {
    await write(body)
    for await (const part of rest) {
      if (response.destroyed) break
      await write(part)
    }
  } finally {
    sent()
  }
  response.end()
}

/** One abort controller for each connection: a client that goes away ends whatever it asked for. */
class ConnectionSignals {
  readonly #signals = new WeakMap<Socket, AbortSignal>()

  of(socket: Socket): AbortSignal {
    let signal = this.#signals.get(socket)
    if (signal === undefined) {
      const controller = new AbortController()
      socket.once('close', () => controller.abort())
      signal = controller.signal
      this.#signals.set(socket, signal)
    }
    return signal
  }
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
  { handler, engine }: ServerOptions,
  unread: UnreadAnswers,
  message: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const request = new NodeRequest(message, '', new AbortController().signal)
  const admitted = handler.admitSocket(request)
  if ('status' in admitted) return refuseUpgrade(socket, admitted.status)
  const server = admitted.maxFrameBytes > MAX_ANONYMOUS_REQUEST_BYTES ? sockets.trusted : sockets.anonymous
  server.handleUpgrade(message, socket, head, (open) =>
    startSession(open, { engine, unread, connection: socket }, request.url, admitted),
  )
}

function onRequest(
  handler: HttpHandler,
  connections: Connections,
  unread: UnreadAnswers,
  log: Logger,
): (message: IncomingMessage, response: ServerResponse) => void {
  const signals = new ConnectionSignals()
  const bodies = new Bodies(() => Math.max(MAX_BODIES_BYTES, handler.maxRequestBytes))
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
    unread.set(response, answer.bytes?.length ?? answer.body.length)
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
    const head = new NodeRequest(message, '', signals.of(socket))
    const limit = handler.admit(head)
    // A preflight has no token, and its answer is not of this kind.
    if (typeof limit !== 'number' && message.method !== 'OPTIONS') return respond(response, limit, false)
    bodies.read(message, typeof limit === 'number' ? limit : 0, (body, whole, free) => {
      connections.is('answering', socket)
      if (body === undefined) return respond(response, TOO_BUSY, false)
      try {
        const answer = handler.handle(new NodeRequest(message, body, signals.of(socket)))
        if (answer instanceof Promise) {
          answer.then(
            (late) => send(response, late, whole),
            (error: unknown) => broken(error, response),
          )
        } else send(response, answer, whole)
      } catch (error) {
        broken(error, response)
      } finally {
        free()
      }
    })
  }
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const used = systemCode(cause) === 'EADDRINUSE'
      const reason = used ? 'the port is in use' : errorMessage(cause)
      const code = used ? 'ADDRESS_IN_USE' : 'LISTEN_FAILED'
      reject(new PlatformError(code, `Cannot listen on ${host}:${port}: ${reason}`, { host, port }, { cause }))
    })
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}

/**
 * Starts the server.
 * @throws PlatformError ADDRESS_IN_USE; LISTEN_FAILED
 */
export async function startServer(options: ServerOptions): Promise<Listening> {
  const { handler, log } = options
  const connections = new Connections(() => performance.now())
  const unread = new UnreadAnswers()
  const server = createServer(onRequest(handler, connections, unread, log))
  server.on('connection', (socket) => connections.add(socket))
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
  const port = await listen(server, options.host, options.port)
  return {
    host: options.host,
    port,
    close: () =>
      new Promise((resolve) => {
        clearInterval(sweep)
        for (const { clients } of [sockets.trusted, sockets.anonymous]) for (const socket of clients) socket.terminate()
        server.close(() => resolve())
        // Answers under way (that of Shutdown itself, for one) still leave; idle connections end now.
        server.closeIdleConnections()
        setTimeout(() => server.closeAllConnections(), options.closeGraceMs).unref()
      }),
  }
}
