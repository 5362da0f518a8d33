/** The servers of an index: several where one takes over from another. Node and Deno. */
import type { Timers } from '../../../src/base/ports.ts'
import { whenAborted } from '../../../src/base/waiting.ts'
import { IndexError } from '../../../src/index/errors.ts'
import { Connection, databaseFailure } from './connection.ts'
import { serverUrls, shownUrl, wantsPrimary } from './serverUrls.ts'

/** Asks the servers of a URL in turn. */
export class Servers {
  /** `postgres://user@host:5432,host:5432/name`: what may be shown. */
  readonly name: string
  readonly #urls: readonly string[]
  readonly #timers: Timers
  readonly #wantsPrimary: boolean
  /** The one that was good last. */
  #at = 0

  /** @param url - `isServersUrl` */
  constructor(url: string, timers: Timers) {
    this.#urls = serverUrls(url)
    this.#timers = timers
    this.#wantsPrimary = wantsPrimary(url)
    this.name = shownUrl(this.#urls)
  }

  /**
   * A connection to the first server that passes a test, from the one on that was good last. What does not answer and what takes no
   * writes is passed by.
   * @throws IndexError of the test; where no server is good, `CONNECTION_LOST` of one that does not answer before `READ_ONLY`
   */
  async connect(test: (on: Connection) => Promise<void>, signal?: AbortSignal): Promise<Connection> {
    let failure: Error | undefined
    for (let tried = 0; tried < this.#urls.length; tried++) {
      const on = new Connection(this.#urls[this.#at] as string, this.name, this.#timers)
      const stopListening = signal === undefined ? undefined : whenAborted(signal, () => void closed(on))
      try {
        await test(on)
        return on
      } catch (error) {
        await closed(on)
        signal?.throwIfAborted()
        const failed = databaseFailure(this.name, error)
        if (!(failed instanceof IndexError) || !['CONNECTION_LOST', 'READ_ONLY'].includes(failed.code)) throw failed
        if (failure === undefined || failed.code === 'CONNECTION_LOST') failure = failed
        this.#at = (this.#at + 1) % this.#urls.length
      } finally {
        stopListening?.()
      }
    }
    throw failure ?? new IndexError('CONNECTION_LOST', 'the index has no server')
  }

  /** A connection to read by: to any server, or to one that takes writes where the URL asks for it. */
  reading(): Promise<Connection> {
    return this.connect(async (on) => {
      if (this.#urls.length === 1 && !this.#wantsPrimary) return
      const [row] = await on.query<{ still: boolean }>(
        `select current_setting('transaction_read_only') = 'on' as still`,
      )
      if (this.#wantsPrimary && row?.still === true)
        throw new IndexError('READ_ONLY', 'no server of the index takes writes')
    })
  }
}

async function closed(on: Connection): Promise<void> {
  await on.close().catch(() => undefined)
}
