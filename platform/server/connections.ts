/**
 * The connections of a server: how many there are, and how long one may do nothing.
 *
 *   opened | idle --request begins--> reading --body is whole--> answering --answer has left--> idle
 *   any           --upgrade--> socket: a WebSocket, which is pinged and ends by itself
 *
 * Above the bound the one that has been idle for longest goes. One that has just been opened is none of these: its request is
 * under way. Where nobody is idle, callers without a token share the places: of the address that has most of them the one that has
 * begun nothing for longest goes, as long as that address then has no fewer than the new one's. Else the new one is turned away: it
 * may ask once, and hears that there are too many.
 */
import type { Socket } from 'node:net'
import { FIRST_BYTE_MS, IDLE_CONNECTION_MS, MAX_CONNECTIONS, REQUEST_TIME_MS } from '../../src/base/bounds.ts'
import { type Count, OwnCount } from '../../src/base/count.ts'
import { placeOf } from './callerPlace.ts'

type Doing = 'opened' | 'idle' | 'reading' | 'answering' | 'socket'

interface Connection {
  doing: Doing
  /** When it began with that, or when its client last took something of an answer. */
  sinceMs: number
  /** Whoever did something later has a higher one. */
  turn: number
  /** Bytes that its client had taken at the last look; undefined: nobody has looked since it began with that. */
  taken: number | undefined
  /** Its last request brought a token. */
  hasToken: boolean
  /** Where it comes from; undefined: from no address. */
  readonly place: string | undefined
}

/** As many times the connections may be waiting to hear that they are too many; a burst of clients is all there at once. */
const TURNED_AWAY = 4

/** Bounds of {@link Connections}, where a test wants others. */
export interface ConnectionBounds {
  readonly most: number
  readonly firstMs: number
  readonly idleMs: number
  readonly requestMs: number
}

const BOUNDS: ConnectionBounds = {
  most: MAX_CONNECTIONS,
  firstMs: FIRST_BYTE_MS,
  idleMs: IDLE_CONNECTION_MS,
  requestMs: REQUEST_TIME_MS,
}

/** One server's connections. Give it every one when it opens, and call {@link Connections.sweep} now and then. */
export class Connections {
  readonly #connections = new Map<Socket, Connection>()
  readonly #turnedAway = new Set<Socket>()
  readonly #bounds: ConnectionBounds
  readonly #nowMs: () => number
  readonly #count: Count
  #turns = 0
  #closeIdle: (() => void) | undefined

  /** @param count - of the servers that share the bound; each ends its own connections */
  constructor(nowMs: () => number, bounds: ConnectionBounds = BOUNDS, count: Count = new OwnCount()) {
    this.#nowMs = nowMs
    this.#bounds = bounds
    this.#count = count
  }

  get size(): number {
    return this.#connections.size
  }

  /** Takes a new connection, if there is room for it or somebody else's. */
  add(socket: Socket): void {
    const { remoteAddress } = socket
    const place = remoteAddress === undefined ? undefined : placeOf(remoteAddress)
    if (this.#count.total() >= this.#bounds.most) {
      const longest = this.#longestIdle() ?? this.#ofMost(place)
      if (longest === undefined) return this.#turnAway(socket)
      longest.destroy()
      this.#remove(longest)
    }
    const sinceMs = this.#nowMs()
    const turn = ++this.#turns
    this.#connections.set(socket, { doing: 'opened', sinceMs, turn, taken: undefined, hasToken: false, place })
    this.#count.add(1)
    socket.once('close', () => this.#remove(socket))
  }

  #remove(socket: Socket): void {
    if (this.#connections.delete(socket)) this.#count.add(-1)
  }

  /** False: its request is answered with "too many", and it ends. */
  admits(socket: Socket): boolean {
    return !this.#turnedAway.has(socket)
  }

  /** Looked for at the bound alone: keeping all in that order cost every request more. */
  #stalest(isOne: (connection: Connection) => boolean): Socket | undefined {
    let stalest: Socket | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [socket, connection] of this.#connections) {
      if (connection.turn < least && isOne(connection)) [stalest, least] = [socket, connection.turn]
    }
    return stalest
  }

  #longestIdle(): Socket | undefined {
    const now = this.#nowMs()
    return this.#stalest(
      ({ doing, sinceMs }) => doing === 'idle' || (doing === 'opened' && now - sinceMs > this.#bounds.firstMs),
    )
  }

  /** The stalest without a token of the place that has most of them, if a new one of `place` leaves that place as many. */
  #ofMost(place: string | undefined): Socket | undefined {
    const counts = new Map<string, number>()
    for (const { place, hasToken } of this.#connections.values()) {
      if (place !== undefined && !hasToken) counts.set(place, (counts.get(place) ?? 0) + 1)
    }
    let [most, ofMost] = [0, '']
    for (const [each, count] of counts) if (count > most) [most, ofMost] = [count, each]
    if (place === undefined || most < (counts.get(place) ?? 0) + 2) return undefined
    return this.#stalest(({ place, hasToken }) => !hasToken && place === ofMost)
  }

  #turnAway(socket: Socket): void {
    if (this.#turnedAway.size >= TURNED_AWAY * this.#bounds.most) {
      socket.destroy()
      return
    }
    this.#turnedAway.add(socket)
    socket.setTimeout(this.#bounds.firstMs, () => socket.destroy())
    socket.once('close', () => this.#turnedAway.delete(socket))
  }

  /**
   * WebSockets go now, and nobody else stays idle.
   * @param closeIdle - ends who has no answer to come; called again whenever one has left
   */
  end(closeIdle: () => void): void {
    this.#closeIdle = closeIdle
    for (const [socket, { doing }] of this.#connections) if (doing === 'socket') socket.destroy()
    closeIdle()
  }

  /** @param hasToken - of the request that it began; undefined: it goes on with what it does */
  is(doing: Doing, socket: Socket, hasToken?: boolean): void {
    const connection = this.#connections.get(socket)
    // An answer that was asked for before it became a WebSocket may leave later.
    if (connection === undefined || connection.doing === 'socket') return
    connection.doing = doing
    connection.sinceMs = this.#nowMs()
    connection.turn = ++this.#turns
    connection.taken = undefined
    connection.hasToken = hasToken ?? connection.hasToken
    if (doing === 'idle') this.#closeIdle?.()
  }

  /** Ends connections that take too long. An answer may take any time to come, but then it must be taken. */
  sweep(): void {
    const now = this.#nowMs()
    for (const [socket, connection] of this.#connections) {
      const { doing, sinceMs } = connection
      const taken = doing === 'answering' ? socket.bytesWritten - socket.writableLength : 0
      if (doing === 'answering' && (socket.writableLength === 0 || taken > (connection.taken ?? -1))) {
        connection.sinceMs = now
        connection.taken = taken
      } else if (
        doing !== 'socket' &&
        now - sinceMs > (doing === 'reading' || doing === 'answering' ? this.#bounds.requestMs : this.#bounds.idleMs)
      ) {
        socket.destroy()
      }
    }
  }
}
