/** Writers of a chain's index, and what stands in the database afterwards. */
import postgres, { type Sql } from 'postgres'
import { expect } from 'vitest'
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import type { Logger, Timers } from '../../src/base/ports.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { INDEX_TABLES } from '../../src/index/indexStore.ts'
import { IndexWriter } from '../../src/index/indexWriter.ts'
import { silentLog } from '../support/recordedView.ts'

export const timers: Timers = {
  setTimeout: (run, ms) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

/** What a test's writer reads. */
export interface Indexed {
  readonly view: ChainView
  readonly vm: VmHost
}

/** A writer that begins at genesis; its finality is what the test says. */
export function writerOf({ view, vm }: Indexed, url: string, log: Logger = silentLog): IndexWriter {
  return new IndexWriter({ view, vm, store: new PostgresIndex(url, timers), timers, log, from: 0, longestPauseMs: 40 })
}

/** Finality that stays at genesis. */
export function neverFinal({ view }: Indexed): { finalized: () => ReturnType<typeof view.store.genesis> } {
  return { finalized: () => view.store.genesis() }
}

/** Resolves when the index stands where the chain does. */
export async function caughtUp(writer: IndexWriter, timeout = 15_000): Promise<void> {
  await expect.poll(() => writer.status, { timeout, interval: 20 }).toMatchObject({ state: 'following', behind: 0 })
}

/** A new database. */
export async function newDatabase(adminUrl: string, name: string): Promise<string> {
  const sql = connect(adminUrl)
  await sql.unsafe(`create database ${name}`)
  await sql.end()
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.toString()
}

export function connect(url: string): Sql {
  return postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined })
}

/** Every row of every table, as text. */
export async function allRows(url: string, schema: 'canonical' | 'petrel'): Promise<Record<string, string[]>> {
  const sql = connect(url)
  const rows: Record<string, string[]> = {}
  for (const table of ['tipsets', ...INDEX_TABLES]) {
    const found = await sql.unsafe(`select to_jsonb(x)::text as row from ${schema}.${table} x order by 1`)
    rows[table] = found.map(({ row }) => row as string)
  }
  await sql.end()
  return rows
}

/** What an index says that was written in one go, by nobody who was disturbed. */
export async function freshRows(chain: Indexed, url: string): Promise<Record<string, string[]>> {
  const writer = writerOf(chain, url)
  writer.start(neverFinal(chain))
  await caughtUp(writer)
  await writer.stop()
  return allRows(url, 'canonical')
}
