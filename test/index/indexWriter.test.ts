/** The index in a real PostgreSQL: whole, exactly once, by one writer, in the right database. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Connection } from '../../platform/server/index/connection.ts'
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import { toHex } from '../../src/base/bytes.ts'
import { indexedChain } from '../../src/index/indexWriter.ts'
import { TIPSETS_AT_ONCE } from '../../src/index/limits.ts'
import { present } from '../../src/ipld/found.ts'
import { firstBlock, tipsetKeyCid } from '../../src/types/tipset.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { silentLog } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'
import { allRows, caughtUp, connect, freshRows, newDatabase } from './indexed.ts'
import { type Exchange, exchangeChain } from './indexedChain.ts'
import { neverFinal, timers, writerOf } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

describe.skipIf(missing !== undefined)('index', () => {
  let server: TestPostgres
  let exchange: Exchange
  let databases = 0
  const database = (): Promise<string> => newDatabase(server.url(), `index_${databases++}`)

  beforeAll(async () => {
    server = await TestPostgres.start()
    exchange = await exchangeChain()
    for (let i = 0; i < 6; i++) await exchange.mine(i === 3 ? { nullRounds: 2 } : {})
  }, 60_000)
  afterAll(async () => server?.end())

  test('holds every tipset below the head, and every balance of its state', async () => {
    const { view, store } = exchange.node
    const url = await database()
    const rows = await freshRows(exchange.node, url)
    const sql = connect(url)
    const heights = []
    for (let at = store.parent(store.head()); ; at = store.parent(at)) {
      heights.unshift(at.height)
      if (at.height === 0) break
    }
    expect(rows.tipsets?.map((row) => JSON.parse(row).height).sort((a, b) => a - b)).toEqual(heights)
    const balances = await sql`select distinct on (actor) actor::text, balance::text from canonical.balance_changes
      order by actor, height desc`
    const state = [...present(view.stateBefore(store.head()).found())].filter(([, { balance }]) => balance !== 0n)
    const found = balances.filter(({ balance }) => balance !== '0').map(({ actor, balance }) => `${actor}: ${balance}`)
    expect(found.sort()).toEqual(state.map(([id, { balance }]) => `${id}: ${balance}`).sort())
    const addresses = await sql`select address, actor::text from canonical.addresses`
    const map = [...view.stateBefore(store.head()).addresses()].map(([one, id]) => `${view.addressText(one)} ${id}`)
    expect(addresses.map(({ address, actor }) => `${address} ${actor}`).sort()).toEqual(map.sort())
    await sql.end()
  })

  test('a reorganisation moves the head and rewrites nothing; who listens hears of it', async () => {
    const own = await exchangeChain()
    for (let i = 0; i < 5; i++) await own.mine()
    const url = await database()
    const writer = writerOf(own.node, url)
    const sql = connect(url)
    const heard: { height: number; reverted: number }[] = []
    await sql.listen('petrel_head', (text) => heard.push(JSON.parse(text)))
    writer.start(neverFinal(own.node))
    await caughtUp(writer)
    const before = await allRows(url, 'petrel')
    const left = own.node.store.head()
    await own.node.devnet.mine(0, { fork: 3 })
    expect(own.node.store.isAncestor(left, own.node.store.head())).toBe(false)
    await caughtUp(writer)
    const canonical = await allRows(url, 'canonical')
    expect(canonical).toEqual(await freshRows(own.node, await database()))
    const after = await allRows(url, 'petrel')
    for (const [table, rows] of Object.entries(before)) {
      if (table !== 'tipsets') expect(after[table], table).toEqual(expect.arrayContaining(rows))
    }
    expect(after.tipsets?.length).toBeGreaterThan(canonical.tipsets?.length ?? 0)
    await expect.poll(() => heard.at(-1)?.height).toBe(writer.status.height)
    expect(heard.some(({ reverted }) => reverted > 0)).toBe(true)
    // Back to where it was: all rows are here already.
    own.node.store.setHead(left)
    await caughtUp(writer)
    await expect.poll(() => heard.at(-1)?.height).toBe(left.height - 1)
    expect((await allRows(url, 'canonical')).messages).toEqual(await canonicalOf(before.messages, url))
    expect((await allRows(url, 'petrel')).messages).toEqual(after.messages)
    await writer.stop()
    await sql.end()
  })

  test('a long reorganisation is one change: nobody hears of a head on the way', async () => {
    const own = await exchangeChain()
    const fork = TIPSETS_AT_ONCE + 4
    await own.node.devnet.mine(fork)
    await own.mine()
    const url = await database()
    const writer = writerOf(own.node, url)
    writer.start(neverFinal(own.node))
    await caughtUp(writer)
    const stood = writer.status.height
    const sql = connect(url)
    const heard: { height: number; reverted: number; applied: number }[] = []
    await sql.listen('petrel_head', (text) => heard.push(JSON.parse(text)))
    const left = own.node.store.head()
    await own.node.devnet.mine(0, { fork })
    const branch = own.node.store.branches(left, own.node.store.head()).applied
    expect(branch.length).toBeGreaterThan(TIPSETS_AT_ONCE + 1)
    await caughtUp(writer)
    await expect.poll(() => heard.at(-1)?.height).toBe(writer.status.height)
    expect(heard[0]).toMatchObject({ reverted: fork - 1 })
    expect(heard.filter(({ height }) => height < (stood as number))).toEqual([])
    // The newest one of the branch is executed by nobody yet.
    expect(heard.reduce((sum, { applied }) => sum + applied, 0)).toBe(branch.length - 1)
    await writer.stop()
    await sql.end()
    expect(await allRows(url, 'canonical')).toEqual(await freshRows(own.node, await database()))
  })

  test('a reorganisation below its first tipset lets it begin anew, and leaves nothing of what that had', async () => {
    const own = await exchangeChain()
    for (let i = 0; i < 4; i++) await own.mine()
    const url = await database()
    const writer = writerOf(own.node, url, silentLog, { from: undefined })
    const sql = connect(url)
    writer.start(neverFinal(own.node))
    await caughtUp(writer)
    const [began] = await sql`select encode(tipset, 'hex') as tipset from petrel.chain`
    await own.node.devnet.mine(0, { fork: 3 })
    await own.mine()
    await caughtUp(writer)
    await writer.stop()
    const { view, store } = own.node
    const addresses = await sql`select address, actor::text from canonical.addresses`
    const map = [...view.stateBefore(store.head()).addresses()].map(([one, id]) => `${view.addressText(one)} ${id}`)
    expect(addresses.map(({ address, actor }) => `${address} ${actor}`).sort()).toEqual(map.sort())
    for (const [table, rows] of Object.entries(await allRows(url, 'petrel'))) {
      expect(rows.filter((row) => row.includes(began?.tipset)).length, table).toBe(0)
    }
    expect(
      await sql`select first_height = (select min(height) from canonical.tipsets) as fits from petrel.chain`,
    ).toEqual([{ fits: true }])
    await sql.end()
  })

  test('a writer that never had the tipset at which the index stands goes back to what both have', async () => {
    const [first, second] = [await exchangeChain(), await exchangeChain()]
    for (const each of [first, second]) for (let i = 0; i < 3; i++) await each.mine()
    await first.mine()
    await first.mine()
    const url = await database()
    const before = await freshRows(first.node, url)
    await second.mine({ nullRounds: 1 })
    for (let i = 0; i < 3; i++) await second.mine()
    const writer = writerOf(second.node, url)
    writer.start(neverFinal(second.node))
    await caughtUp(writer)
    await writer.stop()
    expect(await allRows(url, 'canonical')).toEqual(await freshRows(second.node, await database()))
    const { tipsets } = await allRows(url, 'petrel')
    expect(tipsets?.length).toBeGreaterThan(before.tipsets?.length ?? 0)
  })

  /** Rows with the time of their tipset, as the views show them. */
  async function canonicalOf(rows: readonly string[] | undefined, url: string): Promise<string[]> {
    const sql = connect(url)
    const times = await sql`select tipset::text, to_jsonb(time) as time from petrel.tipsets`
    await sql.end()
    const timeOf = new Map(times.map(({ tipset, time }) => [tipset, time]))
    const texts = (rows ?? []).map((row) => JSON.parse(row)).map((row) => ({ ...row, time: timeOf.get(row.tipset) }))
    const now = await allRows(url, 'canonical')
    expect((now.messages ?? []).map((row) => JSON.parse(row))).toEqual(expect.arrayContaining(texts))
    return now.messages ?? []
  }

  test('what is final is told, and never taken back', async () => {
    const url = await database()
    const { store } = exchange.node
    const writer = writerOf(exchange.node, url)
    let final = store.tipsetByHeight(2, undefined, 'previous')
    const sql = connect(url)
    const heard: number[] = []
    await sql.listen('petrel_final', (text) => heard.push(JSON.parse(text).height))
    let certified = (): void => undefined
    const onCertificate = (listener: () => void): (() => void) => {
      certified = listener
      return () => undefined
    }
    writer.start({ finalized: () => final, onCertificate })
    await expect.poll(() => heard, { timeout: 15_000 }).toEqual([2])
    await caughtUp(writer)
    final = store.tipsetByHeight(4, undefined, 'previous')
    await exchange.mine()
    await expect.poll(() => heard, { timeout: 15_000 }).toEqual([2, final.height])
    final = store.genesis()
    await exchange.mine()
    await caughtUp(writer)
    expect(await sql`select final_height::int from canonical.head`).toEqual([{ final_height: 4 }])
    // A certificate between two heads.
    const { height } = writer.status
    final = store.tipsetByHeight(7, undefined, 'next')
    certified()
    await expect.poll(() => heard, { timeout: 15_000 }).toEqual([2, 4, 7])
    expect(await sql`select final_height::int, height::int from canonical.head`).toEqual([{ final_height: 7, height }])
    await writer.stop()
    await sql.end()
  })

  test('a connection that ends at any moment loses nothing and doubles nothing', { timeout: 60_000 }, async () => {
    const expected = await freshRows(exchange.node, await database())
    const random = seeded('connections that end')
    const url = await database()
    const admin = connect(server.url())
    const name = new URL(url).pathname.slice(1)
    let ended = 0
    const writer = writerOf(exchange.node, url)
    writer.start(neverFinal(exchange.node))
    while (ended < 12 && writer.status.behind !== 0) {
      const [{ count }] = (await admin`select count(pg_terminate_backend(pid))::int as count from pg_stat_activity
        where datname = ${name}`) as unknown as [{ count: number }]
      ended += count
      await new Promise((done) => setTimeout(done, random.int(60)))
    }
    await caughtUp(writer)
    expect(ended).toBeGreaterThan(0)
    expect(await allRows(url, 'canonical')).toEqual(expected)
    await writer.stop()
    await admin.end()
  })

  test('a second writer waits, and takes over within ten seconds', { timeout: 30_000 }, async () => {
    const own = await exchangeChain()
    const url = await database()
    const [first, second] = [writerOf(own.node, url), writerOf(own.node, url)]
    first.start(neverFinal(own.node))
    await caughtUp(first)
    second.start(neverFinal(own.node))
    await expect.poll(() => second.status.state).toBe('waiting')
    await own.mine()
    await own.mine()
    await caughtUp(first)
    expect(second.status).toMatchObject({ state: 'waiting', transactions: 0 })
    await first.stop()
    const since = performance.now()
    await own.mine()
    await caughtUp(second, 10_000)
    expect(performance.now() - since).toBeLessThan(10_000)
    expect(second.status.tipsets).toBe(1)
    await second.stop()
    expect(await allRows(url, 'canonical')).toEqual(await freshRows(own.node, await database()))
  })

  test.skipIf(process.platform !== 'linux')(
    'a writer whose machine vanishes in the midst of an answer has the lock for eight seconds',
    async () => {
      const asked = vi.spyOn(Connection.prototype, 'query')
      const chain = indexedChain(exchange.node.view)
      const index = new PostgresIndex(await database(), timers)
      const session = await index.open(chain, new AbortController().signal, () => undefined)
      const holder = asked.mock.contexts.at(-1) as Connection
      expect(asked.mock.calls.some(([text]) => text.includes('pg_try_advisory_lock'))).toBe(true)
      expect(await holder.query('show tcp_user_timeout')).toEqual([{ tcp_user_timeout: '8000' }])
      asked.mockRestore()
      await session.close()
    },
  )

  test('a server that dies and comes back is written on', { timeout: 30_000 }, async () => {
    const own = await exchangeChain()
    const url = await database()
    const writer = writerOf(own.node, url)
    writer.start(neverFinal(own.node))
    await caughtUp(writer)
    await server.kill()
    await own.mine()
    await expect.poll(() => writer.status.state, { timeout: 10_000 }).toBe('failing')
    expect(writer.status.reason).not.toBe('')
    await own.mine()
    await server.restart()
    await caughtUp(writer)
    await writer.stop()
    expect(await allRows(url, 'canonical')).toEqual(await freshRows(own.node, await database()))
  })

  test('every table, view and column of the database says what it is', async () => {
    const url = await database()
    await freshRows((await exchangeChain()).node, url)
    const sql = connect(url)
    const silent = await sql`
      select n.nspname || '.' || c.relname as name, a.attname as column
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('petrel', 'canonical')
      join pg_attribute a on a.attrelid = c.oid and a.attnum >= 0 and not a.attisdropped
      where c.relkind in ('r', 'v', 'p') and coalesce(col_description(c.oid, a.attnum), '') = ''`
    const bare = await sql`
      select n.nspname || '.' || c.relname as name from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('petrel', 'canonical')
      where c.relkind in ('r', 'v', 'p') and coalesce(obj_description(c.oid, 'pg_class'), '') = ''`
    await sql.end()
    expect([...silent, ...bare]).toEqual([])
  })

  describe('refuses, before it writes anything,', () => {
    const chain = () => indexedChain(exchange.node.view)
    const check = (url: string): Promise<void> => new PostgresIndex(url, timers).check(chain())
    const open = (url: string) =>
      new PostgresIndex(url, timers).open(chain(), new AbortController().signal, () => undefined)

    async function expectRefused(url: string, code: string): Promise<void> {
      const before = await allRows(url, 'petrel')
      await expect(check(url)).rejects.toMatchObject({ name: 'IndexError', code })
      await expect(open(url)).rejects.toMatchObject({ name: 'IndexError', code })
      expect(await allRows(url, 'petrel')).toEqual(before)
    }

    test('tables of a later version', async () => {
      const url = await database()
      await freshRows(exchange.node, url)
      const sql = connect(url)
      await sql`insert into petrel.migrations (version) values (1000)`
      await sql.end()
      await expectRefused(url, 'SCHEMA_NEWER')
    })

    test("somebody else's schema of that name", async () => {
      const url = await database()
      const sql = connect(url)
      await sql`create schema petrel`
      await sql`create table petrel.notes (text text)`
      await sql.end()
      await expect(check(url)).rejects.toMatchObject({ name: 'IndexError', code: 'NOT_OURS' })
    })

    test('the database of another genesis', async () => {
      const url = await database()
      await freshRows((await exchangeChain('another')).node, url)
      await expectRefused(url, 'OTHER_CHAIN')
    })

    test('a user who may only read', async () => {
      const url = await database()
      const sql = connect(url)
      await sql`create role reader login`
      const reader = new URL(url)
      reader.username = 'reader'
      await expect(check(reader.toString())).rejects.toMatchObject({ code: 'READ_ONLY' })
      expect(await sql`select 1 from pg_namespace where nspname = 'petrel'`).toEqual([])
      await freshRows(exchange.node, url)
      await sql`grant usage on schema petrel to reader`
      await sql`grant select on all tables in schema petrel to reader`
      await sql.end()
      await expect(check(reader.toString())).rejects.toMatchObject({ code: 'READ_ONLY' })
    })

    test('a database that is set read-only', async () => {
      const url = await database()
      await freshRows(exchange.node, url)
      const sql = connect(url)
      await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`)
      await sql.end()
      await expectRefused(url, 'READ_ONLY')
    })

    test('nobody that answers: that is waited for', async () => {
      await expect(check('postgres://petrel@127.0.0.1:9/none')).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
      const writer = writerOf(exchange.node, 'postgres://petrel@127.0.0.1:9/none')
      await writer.check()
    })
  })

  test('rows name their tipset as the Ethereum interface does', async () => {
    const url = await database()
    await freshRows(exchange.node, url)
    const { store } = exchange.node
    const top = store.parent(store.head())
    const sql = connect(url)
    const [row] = await sql`select encode(tipset, 'hex') as name, encode(parent, 'hex') as parent from canonical.tipsets
      where height = ${top.height}`
    expect(row).toEqual({
      name: toHex(tipsetKeyCid(top.key).digest),
      parent: toHex(tipsetKeyCid(firstBlock(top).parents).digest),
    })
    await sql.end()
  })
})
