/** The servers of an index: several where one takes over from another. Node and Deno. */
import type { Timers } from '../../../src/base/ports.ts'
import { whenAborted } from '../../../src/base/waiting.ts'
import { IndexError } from '../../../src/index/errors.ts'
import { Connection, databaseFailure } from './connection.ts'
import { serverUrls, shownUrl, wantsPrimary } from './serverUrls.ts'

/**
 * The database cluster that a server is of, and which of its histories it writes: a promotion begins a new one. A standby has none. Each by
 * itself: where a proxy or a provider forbids them, nothing is known.
 */
const HISTORY = `
  select (select system_identifier::text from pg_control_system()) as cluster,
    case when pg_is_in_recovery() then null
      else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`

interface History {
  readonly cluster: string
  readonly timeline: number
}

/** Asks the servers of a URL in turn. */
export class Servers {
  /** `postgres://user@host:5432,host:5432/name`: what may be shown. */
  readonly name: string
  readonly #urls: readonly string[]
  readonly #timers: Timers
  readonly #wantsPrimary: boolean
  /** The one that was good last. */
  #at = 0
  /** The newest that was seen. */
  #history: History | undefined

  /** @param url - `isServersUrl` */
  constructor(url: string, timers: Timers) {
    this.#urls = serverUrls(url)
    this.#timers = timers
    this.#wantsPrimary = wantsPrimary(url)
    this.name = shownUrl(this.#urls)
  }

  /**
   * A connection to the first server that passes a test, from the one on that was good last. What does not answer, what takes no
   * writes and a primary that was left behind by a failover are passed by.
   * @throws IndexError of the test; where no server is good, `CONNECTION_LOST` of one that does not answer before `READ_ONLY`
   */
  async connect(test: (on: Connection) => Promise<void>, signal?: AbortSignal): Promise<Connection> {
    let failure: Error | undefined
    // Others may be connecting at the same time: each asks every server.
    const first = this.#at
    for (let tried = 0; tried < this.#urls.length; tried++) {
      const at = (first + tried) % this.#urls.length
      const on = new Connection(this.#urls[at] as string, this.name, this.#timers)
      const stopListening = signal === undefined ? undefined : whenAborted(signal, () => void closed(on))
      try {
        await test(on)
        await this.#assertNewest(on)
        this.#at = at
        return on
      } catch (error) {
        await closed(on)
        signal?.throwIfAborted()
        const failed = databaseFailure(this.name, error)
        if (!(failed instanceof IndexError) || !['CONNECTION_LOST', 'READ_ONLY'].includes(failed.code)) throw failed
        if (failure === undefined || failed.code === 'CONNECTION_LOST') failure = failed
      } finally {
        stopListening?.()
      }
    }
    throw failure ?? new IndexError('CONNECTION_LOST', 'the index has no server')
  }

  /** Refuses a primary of an older history than was seen: one that was left for dead and came back. */
  async #assertNewest(on: Connection): Promise<void> {
    const [row] = await on.query<{ cluster: string; timeline: number | null }>(HISTORY).catch((error: unknown) => {
      on.lost.throwIfAborted()
      if (error instanceof IndexError) throw error
      return []
    })
    if (row === undefined || row.timeline === null) return
    const { cluster, timeline } = row
    const seen = this.#history
    if (seen?.cluster === cluster && timeline < seen.timeline) {
      const text = `a server that a failover left behind (timeline ${timeline}, after ${seen.timeline})`
      throw new IndexError('CONNECTION_LOST', text)
    }
    this.#history = { cluster, timeline }
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
