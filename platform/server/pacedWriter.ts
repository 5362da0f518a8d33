/** Writes answers in parts at the pace at which their clients take them. */
import { DEAR_TURN_MS, PART_MS, REQUEST_TIME_MS } from '../../src/base/bounds.ts'
import { Breather } from '../../src/base/breather.ts'
import { systemClock, systemTimers } from './clock.ts'

/** Characters that are written at once: a part of a listing and what makes it a little longer. */
const WRITTEN = 1 << 17

/** A client that reads at once takes part after part, and the loop would not get round to anybody else. */
const writing = new Breather({ clock: systemClock, timers: systemTimers }, DEAR_TURN_MS)

/** Where a stretch of a text ends that begins at `from`: not within a character. */
function stretchEnd(text: string, from: number): number {
  const to = from + WRITTEN
  const last = text.charCodeAt(to - 1)
  return last >= 0xd800 && last < 0xdc00 ? to - 1 : to
}

/** Where an answer goes: a response, or the connection below a WebSocket. */
interface Destination {
  readonly destroyed: boolean
  destroy(): unknown
  on(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
}

/** Resolves when what was written has been taken, or the client has gone. */
export function untilTaken(to: Pick<Destination, 'on' | 'off'>): Promise<void> {
  return new Promise((resolve) => {
    const taken = (): void => {
      to.off('drain', taken)
      to.off('close', taken)
      resolve()
    }
    to.on('drain', taken)
    to.on('close', taken)
  })
}

/** What a writer writes with. */
interface PacedWriterDeps {
  readonly to: Destination
  /** @param isLast - of the whole answer @returns whether there is room for more */
  write(stretch: string, isLast: boolean): boolean
  /** Counts what has not been taken: before it waits for that, and afterwards. */
  count(isWaiting: boolean): void
}

/**
 * One answer. Who keeps it waiting for {@link REQUEST_TIME_MS}, and {@link PART_MS} more for each part that was taken, loses the
 * connection.
 */
export class PacedWriter {
  readonly #deps: PacedWriterDeps
  #patienceMs = REQUEST_TIME_MS

  constructor(deps: PacedWriterDeps) {
    this.#deps = deps
  }

  /** Resolves when there is room for more, or the client has gone. @param isLast - of the whole answer */
  async write(part: string, isLast = false): Promise<void> {
    if (part === '' && !isLast) return
    const { to, write } = this.#deps
    let from = 0
    do {
      const end = stretchEnd(part, from)
      const stretch = part.slice(from, end)
      await writing.run(async () => {
        if (!to.destroyed && !write(stretch, isLast && end >= part.length)) await this.#taken()
      })
      from = end
    } while (from < part.length && !to.destroyed)
  }

  async #taken(): Promise<void> {
    const { to, count } = this.#deps
    count(true)
    const began = performance.now()
    const late = setTimeout(() => to.destroy(), this.#patienceMs)
    late.unref()
    await untilTaken(to)
    clearTimeout(late)
    this.#patienceMs = Math.min(this.#patienceMs - (performance.now() - began) + PART_MS, REQUEST_TIME_MS)
    count(false)
  }
}
