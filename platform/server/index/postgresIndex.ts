/** The chain as rows in PostgreSQL. Node and Deno. */
import postgres from 'postgres'
import { errorMessage } from '../../../src/base/errors.ts'
import type { Timers } from '../../../src/base/ports.ts'
import { abortable, sleep, withTimeout } from '../../../src/base/waiting.ts'
import { type Json, stringifyJson } from '../../../src/codec/jsonText.ts'
import { IndexError } from '../../../src/index/errors.ts'
import type {
  IndexChange,
  IndexedChain,
  IndexPosition,
  IndexSession,
  IndexStore,
  Row,
  TipsetName,
} from '../../../src/index/indexStore.ts'
import { MIGRATIONS } from './migrations.ts'

/** Of the advisory lock that a writer holds: "petrel" and the index, as numbers. */
const LOCK = '0x706574, 0x726c31'
/** Between two looks whether the other writer has gone. */
const LOCK_POLL_MS = 1000
/** The oldest version of the server: 16. */
const MIN_SERVER = 160_000
const CONNECT_TIMEOUT_SEC = 10
/** A statement that takes longer has met something that will not end. */
const STATEMENT_TIMEOUT_MS = 120_000
/** After that it is the connection that does not answer. */
const ANSWER_TIMEOUT_MS = 130_000
/** A writer whose machine is gone loses its lock after 4 + 2 x 2 seconds. */
const KEEPALIVE = { tcp_keepalives_idle: 4, tcp_keepalives_interval: 2, tcp_keepalives_count: 2 }

/** Channels of `NOTIFY`. */
export const HEAD_CHANNEL = 'petrel_head'
export const FINAL_CHANNEL = 'petrel_final'

const NEWEST = MIGRATIONS.at(-1)?.version ?? 0

/** `postgres://user@host:5432/name`: what may be shown. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return 'postgres'
  const shown = new URL(url)
  shown.password = ''
  shown.search = ''
  return shown.toString()
}

/** One connection, which is never made anew behind our back: it holds the lock. */
class Connection {
  readonly #sql: postgres.Sql
  readonly #timers: Timers
  readonly #ended = new AbortController()

  constructor(url: string, name: string, timers: Timers) {
    this.#timers = timers
    this.#sql = postgres(url, {
      ...{ max: 1, idle_timeout: 0, max_lifetime: null, fetch_types: false, connect_timeout: CONNECT_TIMEOUT_SEC },
      connection: { application_name: 'petrel', statement_timeout: STATEMENT_TIMEOUT_MS, ...KEEPALIVE },
      onnotice: () => undefined,
      onclose: () => this.#ended.abort(new IndexError('CONNECTION_LOST', `the connection to ${name} ended`)),
    })
  }

  /** Aborts when it ends. */
  get lost(): AbortSignal {
    return this.#ended.signal
  }

  /** @returns the rows, of the shape that the caller knows */
  async query<T extends object>(text: string, values: readonly (string | number)[] = []): Promise<readonly T[]> {
    this.lost.throwIfAborted()
    const late = (): Error => {
      const error = new IndexError('CONNECTION_LOST', 'the database does not answer any more')
      this.#ended.abort(error)
      return error
    }
    // The library does not always settle what a connection leaves behind when it ends.
    const rows = withTimeout(this.#timers, ANSWER_TIMEOUT_MS, late, () => this.#sql.unsafe<T[]>(text, [...values]))
    return abortable(rows, this.lost)
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

/** See the file's comment. */
export class PostgresIndex implements IndexStore {
  readonly name: string
  readonly #url: string
  readonly #timers: Timers

  /** @param url - `postgres://user:password@host:port/database?sslmode=…` */
  constructor(url: string, timers: Timers) {
    this.name = shownUrl(url)
    this.#url = url
    this.#timers = timers
  }

  async check(chain: IndexedChain): Promise<void> {
    const connection = new Connection(this.#url, this.name, this.#timers)
    try {
      await assertFits(connection, chain)
    } catch (error) {
      throw this.#failure(error)
    } finally {
      await connection.close()
    }
  }

  async open(chain: IndexedChain, signal: AbortSignal, onWaiting: () => void): Promise<IndexSession> {
    const connection = new Connection(this.#url, this.name, this.#timers)
    const { lost } = connection
    const end = (): void => {
      connection.close().catch(() => undefined)
    }
    signal.addEventListener('abort', end, { once: true })
    try {
      await assertFits(connection, chain)
      for (;;) {
        const [row] = await connection.query<{ mine: boolean }>(`select pg_try_advisory_lock(${LOCK}) as mine`)
        if (row?.mine === true) break
        onWaiting()
        await sleep(this.#timers, LOCK_POLL_MS, AbortSignal.any([signal, lost]))
      }
      await migrate(connection, chain)
      // The one that went may have been a later version.
      await assertFits(connection, chain)
      return {
        lost,
        position: () => this.#told(position(connection)),
        known: (tipsets) => this.#told(known(connection, tipsets)),
        write: (change) => this.#told(connection.transaction(() => write(connection, change))),
        close: () => connection.close(),
      }
    } catch (error) {
      await connection.close()
      signal.throwIfAborted()
      throw this.#failure(error)
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  async #told<T>(run: Promise<T>): Promise<T> {
    try {
      return await run
    } catch (error) {
      throw this.#failure(error)
    }
  }

  #failure(cause: unknown): Error {
    if (cause instanceof IndexError) return cause
    const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : ''
    // Classes of SQLSTATE: 08 connection, 57P0 shut down; what has letters alone is the system's or the client's.
    const isLost = /^(08|57P0|[A-Z_]+$)/.test(code)
    const text = `${this.name}: ${errorMessage(cause)}`
    if (code === '25006' || code === '42501') return new IndexError('READ_ONLY', text, { code }, { cause })
    return new IndexError(isLost ? 'CONNECTION_LOST' : 'DATABASE_FAILED', text, { code }, { cause })
  }
}

interface Server {
  readonly version: number
  readonly still: boolean
  readonly name: string
  readonly made: boolean
  readonly creates: boolean
}

interface Holding {
  readonly version: number
  readonly network: string
  readonly genesis: string
  readonly chain_id: string
  readonly writes: boolean
}

/** Looks at the server, at who we are there, and at what is in it. */
async function assertFits(on: Connection, chain: IndexedChain): Promise<void> {
  const [server] = await on.query<Server>(
    `select current_setting('server_version_num')::int as version, current_setting('transaction_read_only') = 'on' as still,
     current_user as name, to_regclass('petrel.chain') is not null as made,
     has_database_privilege(current_database(), 'create') as creates`,
  )
  const { version, still, name, made, creates } = server as Server
  if (version < MIN_SERVER) {
    throw new IndexError(
      'SERVER_TOO_OLD',
      `the index needs PostgreSQL 16 or newer, this is ${Math.floor(version / 10_000)}`,
    )
  }
  if (still) throw new IndexError('READ_ONLY', 'the database of the index takes no writes: a standby, or set read-only')
  if (!made) {
    if (creates) return
    throw new IndexError('READ_ONLY', `user ${name} may not create the tables of the index`)
  }
  const [found] = await on.query<Holding>(
    `select (select max(version) from petrel.migrations) as version, network, genesis, chain_id::text as chain_id,
     has_table_privilege('petrel.tipsets', 'insert') and has_table_privilege('petrel.chain', 'update') as writes
     from petrel.chain`,
  )
  if (found === undefined) return
  if (found.version > NEWEST) {
    const text = `the tables of the index are of version ${found.version}, this Petrel knows ${NEWEST}: use the newer one`
    throw new IndexError('SCHEMA_NEWER', text)
  }
  if (found.network !== chain.network || found.genesis !== chain.genesis || found.chain_id !== String(chain.chainId)) {
    const text =
      `the index holds ${found.network} with genesis ${found.genesis}, ` +
      `this node follows ${chain.network} with genesis ${chain.genesis}: use another database`
    throw new IndexError('OTHER_CHAIN', text)
  }
  if (!found.writes) throw new IndexError('READ_ONLY', `user ${name} may not write the tables of the index`)
}

/** Applies the steps that are missing. */
async function migrate(on: Connection, { network, genesis, chainId }: IndexedChain): Promise<void> {
  const [found] = await on.query<{ made: boolean }>(`select to_regclass('petrel.migrations') is not null as made`)
  const [at] =
    found?.made === true
      ? await on.query<{ version: number }>('select max(version) as version from petrel.migrations')
      : []
  for (const { version, sql: step } of MIGRATIONS) {
    if (at !== undefined && version <= at.version) continue
    await on.transaction(async () => {
      await on.query(step)
      await on.query('insert into petrel.migrations (version) values ($1)', [version])
      await on.query(
        'insert into petrel.chain (network, genesis, chain_id) values ($1, $2, $3) on conflict do nothing',
        [network, genesis, String(chainId)],
      )
    })
  }
}

async function position(on: Connection): Promise<IndexPosition | undefined> {
  const [row] = await on.query<{ tipset: string; key: string; height: number; final: number }>(
    `select encode(tipset, 'hex') as tipset, array_to_json(key)::text as key, height::int, final_height::int as final
     from petrel.chain join petrel.tipsets t using (tipset, height)`,
  )
  if (row === undefined) return undefined
  return { tipset: row.tipset, key: JSON.parse(row.key) as string[], height: row.height, finalHeight: row.final }
}

async function known(on: Connection, tipsets: readonly TipsetName[]): Promise<ReadonlySet<TipsetName>> {
  if (tipsets.length === 0) return new Set()
  const rows = await on.query<{ tipset: string }>(
    `select encode(tipset, 'hex') as tipset from petrel.tipsets where tipset in (${NAMES})`,
    [JSON.stringify(tipsets)],
  )
  return new Set(rows.map(({ tipset }) => tipset))
}

/** Tipsets of a parameter that is a JSON list of their names. */
const NAMES = `select decode(value, 'hex') from json_array_elements_text($1::text::json)`

async function write(on: Connection, { from, reverted, applied, position }: IndexChange): Promise<void> {
  // Somebody else may have written since the connection was made, however that came about: then nothing is.
  const [at] = await on.query<{ tipset: string | null; final: number; mine: boolean }>(
    `select encode(tipset, 'hex') as tipset, final_height::int as final, pg_try_advisory_xact_lock(${LOCK}) as mine
     from petrel.chain for update`,
  )
  if (at?.mine !== true || (at.tipset ?? undefined) !== from) {
    throw new IndexError('POSITION_MOVED', 'another writer has written the index')
  }
  if (reverted.length > 0) {
    await on.query(`update petrel.tipsets set canonical = false where tipset in (${NAMES})`, [JSON.stringify(reverted)])
  }
  for (const { tipset, rows } of applied) {
    if (rows === undefined) {
      await on.query(`update petrel.tipsets set canonical = true where tipset = decode($1, 'hex')`, [tipset])
      continue
    }
    await insert(on, 'tipsets', [{ ...rows.own, canonical: true }])
    for (const batch of rows.batches) await insert(on, batch.table, batch.rows)
  }
  const { tipset, height, finalHeight } = position
  await on.query(
    `update petrel.chain set tipset = decode($1, 'hex'), height = $2, final_height = $3, changed = now(),
     first_height = coalesce(first_height, $4)`,
    [tipset, height, finalHeight, applied[0]?.height ?? height],
  )
  if (applied.length > 0)
    await notify(on, HEAD_CHANNEL, { height, tipset, reverted: reverted.length, applied: applied.length })
  if (finalHeight > at.final) await notify(on, FINAL_CHANNEL, { height: finalHeight })
}

/** Heard by who listens when the transaction is committed. */
async function notify(on: Connection, channel: string, news: Json): Promise<void> {
  await on.query('select pg_notify($1, $2)', [channel, stringifyJson(news)])
}

/** Rows as one JSON text: the server reads it by the table's columns. */
async function insert(on: Connection, table: string, rows: readonly Row[]): Promise<void> {
  const statement = `insert into petrel.${table} select * from json_populate_recordset(null::petrel.${table}, $1::text::json)`
  await on.query(statement, [stringifyJson(rows as Json)])
}
