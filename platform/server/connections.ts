/**
 * The connections of a server: how many there are, and how long one may do nothing.
 *
 *   idle --request begins--> reading --body is whole--> answering --answer has left--> idle
 *   any  --upgrade--> socket: a WebSocket, which is pinged and ends by itself
 */
import type { Socket } from 'node:net'
import { IDLE_CONNECTION_MS, MAX_CONNECTIONS, REQUEST_TIME_MS } from '../../src/base/bounds.ts'

type Doing = 'idle' | 'reading' | 'answering' | 'socket'

interface Connection {
  doing: Doing
  /** When it began with that, or when its client last took something of an answer. */
  sinceMs: number
  /** Bytes that its client had taken then. */
  written: number
}

/** Bounds of {@link Connections}, where a test wants others. */
export interface ConnectionBounds {
  readonly most: number
  readonly idleMs: number
  readonly requestMs: number
}

const BOUNDS: ConnectionBounds = {
  most: MAX_CONNECTIONS,
  idleMs: IDLE_CONNECTION_MS,
  requestMs: REQUEST_TIME_MS,
}

/** See the file's comment. Give it every connection when it opens, and call {@link Connections.sweep} now and then. */
export class Connections {
  /** The longest idle first: whoever does something moves to the end. */
  readonly #connections = new Map<Socket, Connection>()
  readonly #bounds: ConnectionBounds
  readonly #nowMs: () => number

  constructor(nowMs: () => number, bounds: ConnectionBounds = BOUNDS) {
    this.#nowMs = nowMs
    this.#bounds = bounds
  }

  get size(): number {
    return this.#connections.size
  }

  /** Takes a new connection. Where there are too many, the one that has been idle for longest goes, else the new one. */
  add(socket: Socket): void {
    if (this.#connections.size >= this.#bounds.most) {
      const idle = [...this.#connections].find(([, { doing }]) => doing === 'idle')
      ;(idle?.[0] ?? socket).destroy()
      if (idle === undefined) return
      this.#connections.delete(idle[0])
    }
    this.#connections.set(socket, { doing: 'idle', sinceMs: this.#nowMs(), written: 0 })
    socket.once('close', () => this.#connections.delete(socket))
  }

  is(doing: Doing, socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    this.#connections.delete(socket)
    this.#connections.set(socket, { doing, sinceMs: this.#nowMs(), written: socket.bytesWritten })
  }

  /** Ends connections that take too long. An answer may take any time to come, but then it must be taken. */
  sweep(): void {
    const now = this.#nowMs()
    for (const [socket, connection] of this.#connections) {
      const { doing, sinceMs } = connection
      if (
        doing === 'answering' &&
        (socket.writableLength === 0 || socket.bytesWritten - socket.writableLength > connection.written)
      ) {
        connection.sinceMs = now
        connection.written = socket.bytesWritten - socket.writableLength
      } else if (
        doing !== 'socket' &&
        now - sinceMs > (doing === 'idle' ? this.#bounds.idleMs : this.#bounds.requestMs)
      ) {
        socket.destroy()
      }
    }
  }
}
