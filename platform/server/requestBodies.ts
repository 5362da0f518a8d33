/** Bodies of requests, while they are read. */
import type { IncomingMessage } from 'node:http'
import { type Count, OwnCount } from '../../src/base/count.ts'

/** Request bodies that are in memory, all connections together. */
export class Bodies {
  readonly #bytes: Count
  readonly #most: () => number

  /** @param bytes - of the servers that share the bound */
  constructor(most: () => number, bytes: Count = new OwnCount()) {
    this.#most = most
    this.#bytes = bytes
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
      this.#bytes.add(-length)
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
      if (this.#bytes.total() + chunk.length > this.#most()) {
        message.pause()
        stop()
        free()
        done(undefined, false, free)
        return
      }
      length += chunk.length
      this.#bytes.add(chunk.length)
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
