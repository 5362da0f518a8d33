/** The chain as rows in PostgreSQL. Node and Deno. */
import type { Timers } from '../../../src/base/ports.ts'
import { sleep, whenAborted } from '../../../src/base/waiting.ts'
import { type Json, stringifyJson } from '../../../src/codec/jsonText.ts'
import { IndexError } from '../../../src/index/errors.ts'
import {
  type AppliedTipset,
  INDEX_TABLES,
  type IndexChange,
  type IndexedChain,
  type IndexedTipset,
  type IndexPosition,
  type IndexSession,
  type IndexStore,
  type PlacedTipset,
  type Row,
  type TipsetName,
} from '../../../src/index/indexStore.ts'
import { bareTables } from './bareTables.ts'
import { assertFits } from './checks.ts'
import { type Connection, databaseFailure } from './connection.ts'
import { migrate } from './migrate.ts'
import { Servers } from './servers.ts'

/** Of the advisory lock that a writer holds: "petrel" and the index, as numbers. */
const LOCK = '0x706574, 0x726c31'
/** How soon a server notices, in the midst of a statement, that its writer has gone, and lets go of the lock. */
const CLIENT_LOOK_MS = 2000
/** Between two looks whether the other writer has gone. */
const LOCK_POLL_MS = 1000
/**
 * A writer whose machine is gone while the server answers it loses its lock after that: keepalives wait for what was sent and is not
 * acknowledged. Not on connections that read: one that takes nothing of a long answer for as long would be ended, too.
 */
const UNHEARD_MS = 8_000

/** Channels of `NOTIFY`. */
const HEAD_CHANNEL = 'petrel_head'
const FINAL_CHANNEL = 'petrel_final'

/** One database that the chain is written into. */
export class PostgresIndex implements IndexStore {
  readonly name: string
  readonly #servers: Servers
  readonly #timers: Timers

  /** @param url - `postgres://user:password@host:port,host:port/database?sslmode=…` */
  constructor(url: string, timers: Timers) {
    this.#servers = new Servers(url, timers)
    this.name = this.#servers.name
    this.#timers = timers
  }

  async check(chain: IndexedChain): Promise<void> {
    const connection = await this.#servers.connect((on) => assertFits(on, chain))
    await connection.close()
  }

  async open(chain: IndexedChain, signal: AbortSignal, onWaiting: () => void): Promise<IndexSession> {
    const connection = await this.#servers.connect((on) => assertFits(on, chain), signal)
    const { lost } = connection
    const stopListening = whenAborted(signal, () => void connection.close().catch(() => undefined))
    try {
      // Servers on some systems cannot.
      await connection.query(`set client_connection_check_interval = ${CLIENT_LOOK_MS}`).catch(() => undefined)
      await connection.query(`set tcp_user_timeout = ${UNHEARD_MS}`)
      for (;;) {
        const [row] = await connection.query<{ mine: boolean }>(`select pg_try_advisory_lock(${LOCK}) as mine`)
        if (row?.mine === true) break
        onWaiting()
        await sleep(this.#timers, LOCK_POLL_MS, AbortSignal.any([signal, lost]))
      }
      await migrate(connection, chain, signal)
      // The one that went may have been a later version.
      await assertFits(connection, chain)
      return {
        lost,
        position: () => this.#told(position(connection)),
        chain: (below, most) => this.#told(chainBelow(connection, below, most)),
        known: (tipsets) => this.#told(known(connection, tipsets)),
        write: (change) => this.#told(connection.transaction(() => write(connection, change, signal))),
        lacking: (below, most) => this.#told(lacking(connection, below, most)),
        complete: (tipset) => this.#told(connection.transaction(() => complete(connection, tipset))),
        close: () => connection.close(),
      }
    } catch (error) {
      await connection.close()
      signal.throwIfAborted()
      throw databaseFailure(this.name, error)
    } finally {
      stopListening()
    }
  }

  async #told<T>(run: Promise<T>): Promise<T> {
    try {
      return await run
    } catch (error) {
      throw databaseFailure(this.name, error)
    }
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

async function chainBelow(on: Connection, below: number, most: number): Promise<readonly PlacedTipset[]> {
  return await on.query<{ tipset: string; height: number }>(
    `select encode(tipset, 'hex') as tipset, height::int from petrel.tipsets
     where canonical and height < $1 order by height desc limit $2`,
    [below, most],
  )
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

async function write(
  on: Connection,
  { from, reverted, applied, forgotten, position }: IndexChange,
  signal: AbortSignal,
): Promise<void> {
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
  if (forgotten.length > 0) await forget(on, forgotten)
  // Nothing was ever committed: what follows are millions of rows.
  const finishTables = from === undefined ? await bareTables(on, signal) : undefined
  let count = 0
  let first: number | undefined
  for await (const { tipset, height: at, rows } of applied) {
    count++
    first ??= at
    if (rows === undefined) {
      await on.query(`update petrel.tipsets set canonical = true where tipset = decode($1, 'hex')`, [tipset])
      continue
    }
    await insert(on, 'tipsets', [{ ...rows.own, canonical: true }])
    for (const batch of rows.batches) await insert(on, batch.table, batch.rows)
  }
  await finishTables?.()
  const { tipset, height, finalHeight } = position
  await on.query(
    `update petrel.chain set tipset = decode($1, 'hex'), height = $2, final_height = $3, changed = now(),
     first_height = coalesce(first_height, $4)`,
    [tipset, height, finalHeight, first ?? height],
  )
  if (count > 0) await notify(on, HEAD_CHANNEL, { height, tipset, reverted: reverted.length, applied: count })
  if (finalHeight > at.final) await notify(on, FINAL_CHANNEL, { height: finalHeight })
}

/** Deletes tipsets with all their rows; where the index begins, and where it stands, is written with what comes instead. */
async function forget(on: Connection, tipsets: readonly TipsetName[]): Promise<void> {
  const names = JSON.stringify(tipsets)
  await on.query('update petrel.chain set tipset = null, first_height = null')
  for (const table of [...INDEX_TABLES, 'tipsets']) {
    // By height, too, which their indexes begin with.
    await on.query(
      `delete from petrel.${table} where tipset in (${NAMES})
       and height in (select t.height from petrel.tipsets t where t.tipset in (${NAMES}))`,
      [names],
    )
  }
}

/** The filter of logs is the newest column: what lacks an older one lacks it, too. */
async function lacking(on: Connection, below: number, most: number): Promise<IndexedTipset[]> {
  const rows = await on.query<{ key: string; height: number }>(
    `select array_to_json(key)::text as key, height::int from petrel.tipsets
     where canonical and logs_bloom is null and height < $1 order by height desc limit $2`,
    [below, most],
  )
  return rows.map(({ key, height }) => ({ height, key: JSON.parse(key) as string[] }))
}

/** Columns that steps of the schema added, by table; rows that have them already are not touched. */
const ADDED: readonly (readonly [table: string, columns: string, lacks: string])[] = [
  ['blocks', 'messages = r.messages', 'x.messages is null'],
  ['messages', 'events_root = r.events_root, signature = r.signature', `x.events_root = '' or x.signature = ''`],
]

async function complete(on: Connection, { rows }: AppliedTipset): Promise<void> {
  const [at] = await on.query<{ mine: boolean }>(`select pg_try_advisory_xact_lock(${LOCK}) as mine`)
  if (at?.mine !== true) throw new IndexError('POSITION_MOVED', 'another writer has written the index')
  for (const { table, rows: own } of rows?.batches ?? []) {
    const [, columns, lacks] = ADDED.find(([name]) => name === table) ?? []
    if (columns === undefined) continue
    await on.query(
      `update petrel.${table} x set ${columns} from json_populate_recordset(null::petrel.${table}, $1::text::json) r
       where x.height = r.height and x.tipset = r.tipset and x.position = r.position and (${lacks})`,
      [stringifyJson(own as Json)],
    )
  }
  await on.query(
    `update petrel.tipsets x set logs_bloom = r.logs_bloom
     from json_populate_recordset(null::petrel.tipsets, $1::text::json) r where x.tipset = r.tipset`,
    [stringifyJson([rows?.own ?? {}] as Json)],
  )
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
