/**
 * Frames of a WebSocket that have not come whole. ws holds a message until its last byte is there, however long that takes, and tells
 * nobody: so the connection's bytes are counted since the last message, in the room that requests of HTTP have, too.
 */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { REQUEST_TIME_MS } from '../../src/base/bounds.ts'
import type { Room } from '../../src/rpc/held.ts'

/** Head and mask of a control frame of a client (RFC 6455, section 5.2). */
const CONTROL_BYTES = 6

/** What it looks at of a WebSocket. */
type Socket = Pick<WebSocket, 'on' | 'terminate'>

/** The unfinished frame of one connection. */
export class UnfinishedFrame {
  readonly #room: Room
  readonly #nowMs: () => number
  #bytes = 0
  #sinceMs = 0
  #isOver = false

  /**
   * Ends the connection when there is no room for more of a frame.
   * @param connection - below the WebSocket; its reader is told first, so that a message ends what came with it
   */
  constructor(connection: Pick<Duplex, 'prependListener'>, socket: Socket, room: Room, nowMs: () => number) {
    this.#room = room
    this.#nowMs = nowMs
    connection.prependListener('data', (chunk: Uint8Array) => {
      if (!this.#add(chunk.length)) socket.terminate()
    })
    // What came of the next frame in the same piece, up to 64 KiB, is counted when more of it comes.
    socket.on('message', () => this.#lose(this.#bytes))
    for (const control of ['ping', 'pong'] as const) {
      socket.on(control, (data: Uint8Array) => this.#lose(CONTROL_BYTES + data.length))
    }
    socket.on('close', () => {
      this.#isOver = true
      this.#lose(this.#bytes)
    })
  }

  /** Whether a frame takes longer than a request may. */
  get isLate(): boolean {
    return this.#bytes > 0 && this.#nowMs() - this.#sinceMs > REQUEST_TIME_MS
  }

  #add(bytes: number): boolean {
    if (this.#isOver) return true
    if (!this.#room.take(bytes)) return false
    if (this.#bytes === 0) this.#sinceMs = this.#nowMs()
    this.#bytes += bytes
    return true
  }

  #lose(bytes: number): void {
    const lost = Math.min(bytes, this.#bytes)
    this.#room.give(lost)
    this.#bytes -= lost
  }
}
