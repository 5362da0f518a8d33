/** An index that begins: millions of rows on mainnet, in one transaction. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bareTables } from '../../platform/server/index/bareTables.ts'
import type { Connection } from '../../platform/server/index/connection.ts'
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import type { Logger } from '../../src/base/ports.ts'
import { indexedChain } from '../../src/index/indexWriter.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { silentLog } from '../support/recordedView.ts'
import { allRows, caughtUp, connect, freshRows, newDatabase } from './indexed.ts'
import { type Exchange, exchangeChain } from './indexedChain.ts'
import { neverFinal, timers, writerOf } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

describe.skipIf(missing !== undefined)('an index that begins', () => {
  let server: TestPostgres
  let exchange: Exchange
  let databases = 0
  const database = (): Promise<string> => newDatabase(server.url(), `begins_${databases++}`)

  beforeAll(async () => {
    server = await TestPostgres.start()
    exchange = await exchangeChain()
    for (let i = 0; i < 3; i++) await exchange.mine()
  }, 60_000)
  afterAll(async () => server?.end())

  /** A database with tables and no rows. */
  async function emptyIndex(): Promise<string> {
    const url = await database()
    const session = await new PostgresIndex(url, timers).open(
      indexedChain(exchange.node.view),
      new AbortController().signal,
      () => undefined,
    )
    await session.close()
    return url
  }

  /** Which of a table there are: one that is made again is another. */
  async function oidsOf(url: string): Promise<string[]> {
    const sql = connect(url)
    const found = await sql`select indexrelid::text as oid from pg_index where indrelid = 'petrel.addresses'::regclass`
    await sql.end()
    return found.map(({ oid }) => oid as string).sort()
  }

  async function indexesOf(url: string): Promise<string[]> {
    const sql = connect(url)
    const found = await sql`select indexdef || coalesce(pg_get_constraintdef(c.oid), '') as text
      from pg_indexes left join pg_constraint c on c.conname = indexname where schemaname = 'petrel' order by 1`
    await sql.end()
    return found.map(({ text }) => text as string)
  }

  test('has the keys and indexes afterwards that its tables were made with', async () => {
    const url = await emptyIndex()
    const made = await indexesOf(url)
    expect(made.length).toBeGreaterThan(20)
    const before = await oidsOf(url)
    const writer = writerOf(exchange.node, url)
    writer.start(neverFinal(exchange.node))
    await caughtUp(writer)
    await writer.stop()
    expect(await indexesOf(url)).toEqual(made)
    const after = await oidsOf(url)
    expect(after.filter((oid) => before.includes(oid))).toEqual([])
    expect(after).toHaveLength(before.length)
  })

  test('does without taking them away while somebody reads the tables', async () => {
    const url = await emptyIndex()
    const before = await oidsOf(url)
    const reader = connect(url)
    await reader`begin`
    await reader`select count(*) from petrel.addresses`
    const writer = writerOf(exchange.node, url)
    writer.start(neverFinal(exchange.node))
    await caughtUp(writer)
    await writer.stop()
    await reader.end()
    expect(await oidsOf(url)).toEqual(before)
    expect(await allRows(url, 'canonical')).toEqual(await freshRows(exchange.node, await database()))
  })

  test('makes its keys and indexes again by statements that may take their time', async () => {
    const said: [string, AbortSignal?][] = []
    const on = {
      query: async (text: string) => {
        said.push([text])
        return text.includes('pg_index') ? [{ drop: 'drop one', make: 'make one' }] : []
      },
      patient: async (text: string, signal: AbortSignal) => void said.push([text, signal]),
    } as unknown as Connection
    const { signal } = new AbortController()
    const finish = await bareTables(on, signal)
    said.length = 0
    await finish()
    expect(said).toEqual([['make one', signal]])
  })

  test('is given up when it is stopped, and begins again', async () => {
    const url = await database()
    const stopping: Promise<void>[] = []
    const log: Logger = {
      ...silentLog,
      info: (_text, info) => {
        if (info?.rows !== undefined) stopping.push(writer.stop())
      },
    }
    let now = 0
    const writer = writerOf(exchange.node, url, log, { from: 0, monotonicMs: () => (now += 10_000) })
    writer.start(neverFinal(exchange.node))
    await expect.poll(() => stopping.length).toBeGreaterThan(0)
    await Promise.all(stopping)
    expect(Object.values(await allRows(url, 'petrel')).flat()).toEqual([])
    expect(await freshRows(exchange.node, url)).toEqual(await freshRows(exchange.node, await database()))
  })

  test('says how far it is, and how far behind', async () => {
    const said: { rows: number; behind: number | undefined; firstRows: number | undefined }[] = []
    const log: Logger = {
      ...silentLog,
      info: (_text, info) => {
        if (info?.rows === undefined) return
        const { behind, firstRows } = writer.status
        said.push({ rows: info.rows as number, behind, firstRows })
      },
    }
    let now = 0
    const url = await database()
    const writer = writerOf(exchange.node, url, log, { from: 0, monotonicMs: () => (now += 10_000) })
    expect(writer.status).toMatchObject({ behind: undefined, firstRows: undefined })
    writer.start(neverFinal(exchange.node))
    await caughtUp(writer)
    await writer.stop()
    expect(writer.status.firstRows).toBeUndefined()
    // The newest executed tipset is one below the head; of those from genesis on, none is written.
    const { store } = exchange.node.view
    const behind = store.parent(store.head()).height + 1
    for (const one of said) expect(one).toMatchObject({ behind, firstRows: one.rows })
    const { tipsets: _, ...rows } = await allRows(url, 'petrel')
    const first = Object.values(rows).flat()
    expect(said.at(-1)?.rows).toBe(first.filter((row) => JSON.parse(row).height === 0).length)
  })
})
