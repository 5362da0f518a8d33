/** Requests that are in memory: from the first byte of each until its answer is made. */
import type { IncomingMessage } from 'node:http'
import { MAX_ADDRESS_BODIES_BYTES } from '../../src/base/bounds.ts'
import { type Count, OwnCount } from '../../src/base/count.ts'
import type { Room } from '../../src/rpc/httpMessage.ts'

/** What is held for one request. */
export class Held {
  readonly #room: Room
  #bytes = 0

  constructor(room: Room) {
    this.#room = room
  }

  /** @returns false: there is no room for so much more */
  add(bytes: number): boolean {
    if (!this.#room.take(bytes)) return false
    this.#bytes += bytes
    return true
  }

  /** Gives all of it back. */
  free(): void {
    this.#room.give(this.#bytes)
    this.#bytes = 0
  }
}

/** Requests of all connections together. */
export class Bodies implements Room {
  readonly #bytes: Count
  readonly #most: () => number
  /** Bytes by place, of those that have a share. */
  readonly #shares = new Map<string, number>()

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
    if (place === undefined) return this
    const share = (by: number): void => {
      const bytes = (this.#shares.get(place) ?? 0) + by
      if (bytes === 0) this.#shares.delete(place)
      else this.#shares.set(place, bytes)
    }
    return {
      take: (bytes) => {
        const isTooMuch = (this.#shares.get(place) ?? 0) + bytes > MAX_ADDRESS_BODIES_BYTES
        if (isTooMuch || !this.take(bytes)) return false
        share(bytes)
        return true
      },
      give: (bytes) => {
        this.give(bytes)
        share(-bytes)
      },
    }
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
  const held = new Held(room)
  const free = (): void => held.free()
  const stop = (): void => {
    message.removeListener('data', take)
    message.removeListener('end', end)
    message.removeListener('close', free)
  }
  const finish = (whole: boolean): void => {
    stop()
    if (rest === undefined) done(first ?? new Uint8Array(0), whole, held)
    else done(Buffer.concat([first ?? new Uint8Array(0), ...rest]), whole, held)
  }
  const take = (chunk: Uint8Array): void => {
    if (!held.add(chunk.length)) {
      message.pause()
      stop()
      free()
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
  }
  const end = (): void => finish(true)
  message.on('data', take)
  message.on('end', end)
  message.on('close', free)
}
