/** What stands in the database after writers of an index. */
import postgres, { type Sql } from 'postgres'
import { expect, vi } from 'vitest'
import { INDEX_TABLES } from '../../src/index/indexStore.ts'
import type { IndexWriter } from '../../src/index/indexWriter.ts'
import { type Indexed, neverFinal, writerOf } from './writers.ts'

/** Resolves when the index stands where the chain does. */
export async function caughtUp(writer: IndexWriter, timeout = 15_000): Promise<void> {
  const isThere = (): void => expect(writer.status).toMatchObject({ state: 'following', behind: 0 })
  await vi.waitFor(isThere, { timeout, interval: 20 })
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
export async function freshRows(chain: Indexed, url: string, timeout?: number): Promise<Record<string, string[]>> {
  const writer = writerOf(chain, url)
  writer.start(neverFinal(chain))
  await caughtUp(writer, timeout)
  await writer.stop()
  return allRows(url, 'canonical')
}
