/** A connection to the database of an index. Node and Deno. */
import { Socket } from 'node:net'
import postgres from 'postgres'
import { errorMessage } from '../../../src/base/errors.ts'
import type { Timers } from '../../../src/base/ports.ts'
import { abortable, sleep, whenAborted, withTimeout } from '../../../src/base/waiting.ts'
import { IndexError } from '../../../src/index/errors.ts'
import { isReachable } from './isReachable.ts'
import { serverAddress } from './serverUrls.ts'

const CONNECT_TIMEOUT_SEC = 10
/** A statement that takes longer has met something that will not end. */
const STATEMENT_TIMEOUT_MS = 120_000
/** After that it is the connection that does not answer. */
const ANSWER_TIMEOUT_MS = 130_000
/** While a statement runs, the machine is looked for so often, and has so long to answer: one that is gone says nothing. */
const LOOK_MS = 5_000
const REACH_MS = 5_000
/** A writer whose machine is gone loses its lock after 4 + 2 x 2 seconds. */
const KEEPALIVE = { tcp_keepalives_idle: 4, tcp_keepalives_interval: 2, tcp_keepalives_count: 2 }

/** One connection, which is never made anew behind our back: it holds the lock. */
export class Connection {
  readonly #sql: postgres.Sql
  readonly #timers: Timers
  readonly #isThere: () => Promise<boolean>
  readonly #ended = new AbortController()

  /** @param reaches - whether a machine answers; default: by a connection of its own */
  constructor(url: string, name: string, timers: Timers, reaches: typeof isReachable = isReachable) {
    this.#timers = timers
    this.#isThere = () => reaches(url, REACH_MS, timers)
    this.#sql = postgres(url, {
      ...{ max: 1, idle_timeout: 0, max_lifetime: null, fetch_types: false, connect_timeout: CONNECT_TIMEOUT_SEC },
      keep_alive: KEEPALIVE.tcp_keepalives_idle,
      connection: { application_name: 'petrel', statement_timeout: STATEMENT_TIMEOUT_MS, ...KEEPALIVE },
      ...{ socket: onlySocket(url, name) },
      onnotice: () => undefined,
      onclose: () => this.#ended.abort(new IndexError('CONNECTION_LOST', `the connection to ${name} ended`)),
    })
  }

  /** Aborts when it ends. */
  get lost(): AbortSignal {
    return this.#ended.signal
  }

  /** @returns the rows, of the shape that the caller knows */
  query<T extends object>(text: string, values: readonly (string | number)[] = []): Promise<readonly T[]> {
    return this.#watched(() =>
      withTimeout(
        this.#timers,
        ANSWER_TIMEOUT_MS,
        () => this.#end('the database does not answer any more'),
        () => this.#sql.unsafe<T[]>(text, [...values]),
      ),
    )
  }

  /**
   * Runs a statement that takes as long as it takes: one that makes an index of a large table.
   * @param signal - ends the connection, and by that the statement
   */
  async patient(text: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await this.query('set statement_timeout = 0')
    const stopListening = whenAborted(signal, () => void this.#end('stopped'))
    try {
      await this.#watched(() => this.#sql.unsafe(text))
    } finally {
      stopListening()
      // A transaction that has failed takes it back by itself.
      await this.query('reset statement_timeout').catch(() => undefined)
    }
  }

  async #watched<T>(run: () => Promise<T>): Promise<T> {
    this.lost.throwIfAborted()
    const answered = new AbortController()
    // The library does not always settle what a connection leaves behind when it ends.
    const rows = run()
    void this.#watch(AbortSignal.any([answered.signal, this.lost]))
    try {
      return await abortable(rows, this.lost)
    } finally {
      answered.abort()
    }
  }

  /** Ends the connection when its machine is gone: what was sent is sent again for many minutes, in which keepalives are not. */
  async #watch(signal: AbortSignal): Promise<void> {
    for (;;) {
      const isDue = await sleep(this.#timers, LOOK_MS, signal).then(
        () => true,
        () => false,
      )
      if (!isDue) return
      if (!(await this.#isThere()) && !signal.aborted) this.#end("the database's machine does not answer any more")
    }
  }

  #end(text: string): Error {
    const error = new IndexError('CONNECTION_LOST', text)
    this.#ended.abort(error)
    return error
  }

  /**
   * Runs in a transaction. Not by the library's own `begin`: that one writes its rollback to a socket that is gone, in a turn of the
   * loop where nobody catches it.
   */
  async transaction(run: () => Promise<void>): Promise<void> {
    await this.query('begin')
    try {
      await run()
    } catch (error) {
      // A connection that has ended rolls back by itself.
      if (!this.lost.aborted) await this.query('rollback').catch(() => undefined)
      throw error
    }
    await this.query('commit')
  }

  close(): Promise<void> {
    return this.#sql.end({ timeout: 0 })
  }
}

/**
 * One socket. The library connects again, without a pause and without an end, where a connection is closed before it is ready: by a proxy
 * that has no server behind it, which the next server of the URL would have to wait for.
 */
function onlySocket(url: string, name: string): () => Socket {
  let isOpen = false
  return () => {
    if (isOpen) throw new IndexError('CONNECTION_LOST', `${name} closed the connection before it was ready`)
    isOpen = true
    const { host, port } = serverAddress(url)
    // The library checks a certificate against the socket's host.
    const socket = Object.assign(new Socket(), { host })
    // Not before the library listens: an address without a route fails at once.
    queueMicrotask(() => socket.connect(port, host))
    return socket
  }
}

/** What a failure of the database is to the index. @param name - of the database, as it may be shown */
export function databaseFailure(name: string, cause: unknown): Error {
  if (cause instanceof IndexError) return cause
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : ''
  // Classes of SQLSTATE: 08 connection, 57P0 shut down; what has letters alone is the system's or the client's.
  const isLost = /^(08|57P0|[A-Z_]+$)/.test(code)
  const text = `${name}: ${errorMessage(cause)}`
  if (code === '25006' || code === '42501') return new IndexError('READ_ONLY', text, { code }, { cause })
  return new IndexError(isLost ? 'CONNECTION_LOST' : 'DATABASE_FAILED', text, { code }, { cause })
}
