/** An index that an earlier Petrel made, brought up to date by a writer while others read it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Connection } from '../../platform/server/index/connection.ts'
import { migrate } from '../../platform/server/index/migrate.ts'
import { MIGRATIONS } from '../../platform/server/index/migrations.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { allRows, caughtUp, connect, freshRows, newDatabase, schemaOf } from './indexed.ts'
import { type Exchange, exchangeChain } from './indexedChain.ts'
import { neverFinal, timers, writerOf } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

describe.skipIf(missing !== undefined)('tables of an earlier Petrel', () => {
  let server: TestPostgres
  let exchange: Exchange
  let databases = 0
  const database = (): Promise<string> => newDatabase(server.url(), `migrating_${databases++}`)

  beforeAll(async () => {
    server = await TestPostgres.start()
    exchange = await exchangeChain()
    for (let i = 0; i < 4; i++) await exchange.mine()
  }, 60_000)
  afterAll(async () => server?.end())

  /** A database as it was at a version of the schema, with all rows; and as it should be now. */
  async function asOf(newest: number) {
    const fresh = await database()
    await freshRows(exchange.node, fresh)
    const [rows, schema] = [await allRows(fresh, 'petrel'), await schemaOf(fresh)]
    const url = await database()
    const [from, to] = [connect(fresh), connect(url)]
    for (const { version, sql, indexes = [] } of MIGRATIONS.filter(({ version }) => version <= newest)) {
      for (const statement of [...indexes, sql]) await to.unsafe(statement)
      await to`insert into petrel.migrations (version) values (${version})`
    }
    const [chain] = await from`select to_jsonb(c)::text as row from petrel.chain c`
    for (const [table, texts] of [...Object.entries(rows), ['chain', [chain?.row]] as const]) {
      await to.unsafe(
        `insert into petrel.${table} select * from json_populate_recordset(null::petrel.${table}, $1::text::json)`,
        [`[${texts.join()}]`],
      )
    }
    await Promise.all([from.end(), to.end()])
    expect(await schemaOf(url)).not.toEqual(schema)
    return { url, rows, schema }
  }

  test.each(MIGRATIONS.slice(0, -1).map(({ version }) => version))(
    'of version %s become those of a new index, and no reader hears of it',
    async (version) => {
      const { url, rows, schema } = await asOf(version)
      const sql = connect(url)
      const done = new AbortController()
      let reads = 0
      const reading = (async () => {
        for (; !done.signal.aborted; reads++) {
          await sql`select count(*) from canonical.messages join canonical.blocks using (tipset) join canonical.logs using (tipset)`
        }
      })()
      await expect.poll(() => reads).toBeGreaterThan(0)
      const writer = writerOf(exchange.node, url)
      writer.start(neverFinal(exchange.node))
      await caughtUp(writer)
      await expect.poll(() => allRows(url, 'petrel'), { timeout: 15_000 }).toEqual(rows)
      done.abort()
      await reading
      await sql.end()
      expect(await schemaOf(url)).toEqual(schema)
      await exchange.mine()
      await caughtUp(writer)
      await writer.stop()
      expect(await allRows(url, 'canonical')).toEqual(await freshRows(exchange.node, await database()))
    },
  )

  test('get their indexes first, by statements that may take their time', async () => {
    const { signal } = new AbortController()
    const said: string[] = []
    const on = {
      query: async (text: string) => {
        if (text.startsWith('select to_regclass')) return [{ made: true }]
        if (text.startsWith('select max')) return [{ version: 1 }]
        said.push(text)
        return []
      },
      patient: async (text: string, until: AbortSignal) => void said.push(until === signal ? `patient: ${text}` : text),
      transaction: async (run: () => Promise<void>) => run(),
    } as unknown as Connection
    await migrate(on, { network: 'n', genesis: 'g', chainId: 1 }, signal)
    const of = (word: string): number[] => said.flatMap((text, i) => (text.includes(word) ? [i] : []))
    expect(said[0]).toMatch(/^patient: create index if not exists messages_nonce /)
    expect(of('patient: ')).toEqual(of('create index'))
    expect(of('create index')).toHaveLength(3)
    expect(of('alter table')[0]).toBeGreaterThan(0)
  })

  test('wait for a long question, and others do not wait for that; indexes do not wait at all', async () => {
    const { url, schema } = await asOf(1)
    const [slow, other] = [connect(url), connect(url)]
    await slow`begin`
    await slow`select count(*) from canonical.messages`
    const writer = writerOf(exchange.node, url)
    writer.start(neverFinal(exchange.node))
    await expect.poll(() => writer.status.reason, { timeout: 15_000 }).toContain('somebody reads them')
    await other`set statement_timeout = '20s'`
    for (let i = 0; i < 3; i++) expect(await other`select count(*) from canonical.messages`).toHaveLength(1)
    expect(await other`select to_regclass('petrel.messages_nonce') is not null as made`).toEqual([{ made: true }])
    expect(await other`select max(version) as version from petrel.migrations`).toEqual([{ version: 1 }])
    await slow`commit`
    await caughtUp(writer)
    await writer.stop()
    await Promise.all([slow.end(), other.end()])
    expect(await schemaOf(url)).toEqual(schema)
  })

  test('wait for a vacuum, which keeps nobody from reading, as long as it takes', async () => {
    const { url, schema } = await asOf(2)
    const [vacuum, sql] = [connect(url), connect(url)]
    await vacuum`begin`
    await vacuum`lock table petrel.blocks in share update exclusive mode`
    const writer = writerOf(exchange.node, url)
    writer.start(neverFinal(exchange.node))
    const waiting = async (): Promise<number> => {
      const found = await sql`select 1 from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and now() - query_start > interval '1 s'`
      await sql`select count(*) from canonical.blocks`
      return found.length
    }
    await expect.poll(waiting, { timeout: 15_000 }).toBe(1)
    await vacuum`commit`
    await caughtUp(writer)
    expect(writer.status.failures).toBe(0)
    await writer.stop()
    await Promise.all([vacuum.end(), sql.end()])
    expect(await schemaOf(url)).toEqual(schema)
  })

  test('a writer that is stopped in the midst of an index leaves nothing behind that keeps the next one out', async () => {
    const { url, schema } = await asOf(4)
    const [busy, sql] = [connect(url), connect(url)]
    await busy`begin`
    await busy`lock table petrel.logs in row exclusive mode`
    const writer = writerOf(exchange.node, url)
    writer.start(neverFinal(exchange.node))
    const making = async (): Promise<number> => {
      const found = await sql`select 1 from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query like 'create index%'`
      return found.length
    }
    await expect.poll(making, { timeout: 15_000 }).toBe(1)
    await writer.stop()
    // Within two seconds: the server looks whether its client is there.
    await expect.poll(making, { timeout: 20_000 }).toBe(0)
    const next = writerOf(exchange.node, url)
    next.start(neverFinal(exchange.node))
    await expect.poll(making, { timeout: 15_000 }).toBe(1)
    await busy`commit`
    await caughtUp(next)
    await next.stop()
    await Promise.all([busy.end(), sql.end()])
    expect(await schemaOf(url)).toEqual(schema)
  })

  test('a statement that makes an index has no time limit; the next one has', async () => {
    const on = new Connection(await database(), 'test', timers)
    const { signal } = new AbortController()
    const limited = `do $$ begin
      if current_setting('statement_timeout') <> '0' then raise exception 'limited'; end if;
    end $$`
    await on.patient(limited, signal)
    await expect(on.query(limited)).rejects.toThrow('limited')
    await on.transaction(() => on.patient(limited, signal))
    const failing = on.transaction(() => on.patient('select 1 / 0', signal))
    await expect(failing).rejects.toThrow('division by zero')
    await expect(on.query(limited)).rejects.toThrow('limited')
    await on.close()
  })
})
