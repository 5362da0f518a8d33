/** What callers make a server hold before it has answered them. */

/** Room for what callers make a server hold before it has answered them, all callers together. */
export interface Room {
  /** @returns false: there is none for so many bytes */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** What is in memory for one request until it is answered. */
export class Held {
  readonly #room: Room
  #bytes = 0

  constructor(room: Room) {
    this.#room = room
  }

  /** @returns false: there is no room for so many bytes more */
  add(bytes: number): boolean {
    if (!this.#room.take(bytes)) return false
    this.#bytes += bytes
    return true
  }

  /** Gives back the room of all of them: nothing of it is in memory any more. */
  free(): void {
    if (this.#bytes === 0) return
    this.#room.give(this.#bytes)
    this.#bytes = 0
  }
}
