/** Requests that are in memory: from the first byte of each until its answer is made. */
import type { IncomingMessage } from 'node:http'
import { MAX_ADDRESS_BODIES_BYTES } from '../../src/base/bounds.ts'
import { type Count, OwnCount } from '../../src/base/count.ts'
import { Held, type Room } from '../../src/rpc/held.ts'

/** Shares that may hold nothing and are kept all the same: making one anew for each request costs more. */
const EMPTY_SHARES = 1_024

/** Bytes of the callers of one place. */
interface Share {
  bytes: number
}

/** The part of the room that the callers of one place have. */
class PlaceRoom implements Room {
  readonly #all: Bodies
  readonly #place: string

  constructor(all: Bodies, place: string) {
    this.#all = all
    this.#place = place
  }

  take(bytes: number): boolean {
    const share = this.#all.share(this.#place)
    if (share.bytes + bytes > MAX_ADDRESS_BODIES_BYTES || !this.#all.take(bytes)) return false
    share.bytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#all.give(bytes)
    this.#all.share(this.#place).bytes -= bytes
  }
}

/** Requests of all connections together. */
export class Bodies implements Room {
  readonly #bytes: Count
  readonly #most: () => number
  /** By place: of all that hold something. */
  readonly #shares = new Map<string, Share>()
  /** So many shares, and those that hold nothing go. */
  #mostShares = EMPTY_SHARES

  /** @param bytes - of the servers that share the bound */
  constructor(most: () => number, bytes: Count = new OwnCount()) {
    this.#most = most
    this.#bytes = bytes
  }

  take(bytes: number): boolean {
    if (this.#bytes.total() + bytes > this.#most()) return false
    this.#bytes.add(bytes)
    return true
  }

  give(bytes: number): void {
    if (bytes !== 0) this.#bytes.add(-bytes)
  }

  /**
   * The part of the room that a caller has.
   * @param place - where one without a token comes from; undefined: it has a token, and may have all of it
   */
  of(place: string | undefined): Room {
    return place === undefined ? this : new PlaceRoom(this, place)
  }

  /** What the callers of a place hold: to be used at once. */
  share(place: string): Share {
    let share = this.#shares.get(place)
    if (share !== undefined) return share
    if (this.#shares.size >= this.#mostShares) {
      for (const [each, { bytes }] of this.#shares) if (bytes === 0) this.#shares.delete(each)
      this.#mostShares = this.#shares.size + EMPTY_SHARES
    }
    share = { bytes: 0 }
    this.#shares.set(place, share)
    return share
  }
}

/**
 * Reads a body up to `limit + 1` bytes; what is behind is left unread.
 * @param room - the caller's
 * @param done - called once, unless the connection ends before; undefined: there is no room for it. `held` has the body's bytes until
 *   it is freed.
 */
export function readBody(
  message: IncomingMessage,
  limit: number,
  room: Room,
  done: (body: Uint8Array | undefined, whole: boolean, held: Held) => void,
): void {
  let first: Uint8Array | undefined
  let rest: Uint8Array[] | undefined
  let length = 0
  // Listeners stay: taking three away costs more than a look at this.
  let isDone = false
  const held = new Held(room)
  const finish = (whole: boolean): void => {
    isDone = true
    if (rest === undefined) done(first ?? new Uint8Array(0), whole, held)
    else done(Buffer.concat([first ?? new Uint8Array(0), ...rest]), whole, held)
  }
  message.on('data', (chunk: Uint8Array) => {
    if (isDone) return
    if (!held.add(chunk.length)) {
      message.pause()
      isDone = true
      held.free()
      done(undefined, false, held)
      return
    }
    length += chunk.length
    if (first === undefined) first = chunk
    else if (rest === undefined) rest = [chunk]
    else rest.push(chunk)
    if (length <= limit) return
    message.pause()
    finish(false)
  })
  message.on('end', () => {
    if (!isDone) finish(true)
  })
  message.on('close', () => {
    if (isDone) return
    isDone = true
    held.free()
  })
}
