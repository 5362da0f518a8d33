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

/** Runs statements one after the other, on a connection of their own. */
export async function runSql(url: string, ...statements: string[]): Promise<void> {
  const sql = connect(url)
  for (const one of statements) await sql.unsafe(one)
  await sql.end()
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

/** Columns, keys, indexes, views and comments of both schemas, as text. */
export async function schemaOf(url: string): Promise<string[]> {
  const sql = connect(url)
  const found = await sql`
    with relations as (
      select c.*, n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('petrel', 'canonical')
    )
    select concat_ws(' ', name, relkind, obj_description(oid, 'pg_class')) as text from relations
    union all select name || ' ' || pg_get_viewdef(oid) from relations where relkind = 'v'
    union all select name || ' ' || pg_get_indexdef(oid) from relations where relkind = 'i'
    union all select name || ' ' || conname || ' ' || pg_get_constraintdef(k.oid)
      from relations r join pg_constraint k on k.conrelid = r.oid
    union all select concat_ws(' ', name, attnum, attname, format_type(atttypid, atttypmod), attnotnull,
      pg_get_expr(adbin, adrelid), col_description(r.oid, attnum))
      from relations r join pg_attribute a on a.attrelid = r.oid and attnum > 0 and not attisdropped
      left join pg_attrdef on adrelid = r.oid and adnum = attnum
      where relkind in ('r', 'v')
    order by 1`
  await sql.end()
  return found.map(({ text }) => text as string)
}

/** What an index says that was written in one go, by nobody who was disturbed. */
export async function freshRows(chain: Indexed, url: string, timeout?: number): Promise<Record<string, string[]>> {
  const writer = writerOf(chain, url)
  writer.start(neverFinal(chain))
  await caughtUp(writer, timeout)
  await writer.stop()
  return allRows(url, 'canonical')
}
