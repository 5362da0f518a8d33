/** What a reader of an index refuses, before it answers anything; and a follower whose index goes back. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../platform/server/clock.ts'
import { MIGRATIONS } from '../../platform/server/index/migrations.ts'
import { PostgresReader } from '../../platform/server/index/postgresReader.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { IndexFollower } from '../../src/index/indexFollower.ts'
import { indexedChain } from '../../src/index/indexWriter.ts'
import { tipsetName } from '../../src/index/tipsetRows.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import type { Row } from '../support/recorded.ts'
import { silentLog } from '../support/recordedView.ts'
import { askedNode, headersOnly } from './askedNode.ts'
import { caughtUp, newDatabase, runSql } from './indexed.ts'
import { type Exchange, exchangeChain } from './indexedChain.ts'
import { neverFinal, timers, writerOf } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

describe.skipIf(missing !== undefined)('a reader', () => {
  let server: TestPostgres
  let exchange: Exchange

  beforeAll(async () => {
    server = await TestPostgres.start()
    exchange = await exchangeChain()
    for (let i = 0; i < 4; i++) await exchange.mine()
    const writer = writerOf(exchange.node, server.url())
    writer.start(neverFinal(exchange.node))
    await caughtUp(writer)
    await writer.stop()
  }, 60_000)
  afterAll(async () => server?.end())

  /** Code and text of what is refused; `ok`. */
  async function check(url: string, chain = indexedChain(exchange.node.view)): Promise<string> {
    const reader = new PostgresReader(url, timers)
    try {
      await reader.check(chain)
      return 'ok'
    } catch (error) {
      return `${(error as { code: string }).code}: ${(error as Error).message}`
    } finally {
      await reader.close()
    }
  }
  const asUser = (name: string): string => {
    const url = new URL(server.url())
    url.username = name
    return url.toString()
  }

  test('takes an index of its own chain, by a user who may only read', async () => {
    expect(await check(server.url())).toBe('ok')
    await runSql(server.url(), 'create role watcher login', 'create role stranger login')
    expect(await check(asUser('stranger'))).toMatch(/^NOT_READABLE: the user may not read .*stranger/)
    for (const schema of ['petrel', 'canonical']) {
      await runSql(server.url(), `grant usage on schema ${schema} to watcher`)
      await runSql(server.url(), `grant select on all tables in schema ${schema} to watcher`)
    }
    expect(await check(asUser('watcher'))).toBe('ok')
    const reader = new PostgresReader(asUser('watcher'), timers)
    expect((await reader.standing('00'.repeat(32)))?.height).toBeGreaterThan(3)
    await reader.close()
  })

  test('refuses a database without tables, another chain, and other versions of the schema', async () => {
    const empty = await newDatabase(server.url(), 'nothing')
    expect(await check(empty)).toMatch(/^NOT_READABLE: .*there are none yet/)
    const chain = indexedChain(exchange.node.view)
    expect(await check(server.url(), { ...chain, network: 'mainnet' })).toMatch(
      /^OTHER_CHAIN: the index holds .*mainnet/,
    )
    expect(await check(server.url(), { ...chain, genesis: 'bafyother' })).toMatch(/^OTHER_CHAIN: /)
    await runSql(server.url(), 'insert into petrel.migrations (version) values (1000)')
    expect(await check(server.url())).toMatch(/^SCHEMA_NEWER: .*version 1000/)
    await runSql(server.url(), 'delete from petrel.migrations where version > 1')
    expect(await check(server.url())).toMatch(/^SCHEMA_OLDER: .*its writer brings them up to date/)
    await runSql(
      server.url(),
      `insert into petrel.migrations (version) select generate_series(2, ${MIGRATIONS.length})`,
    )
    expect(await check(server.url())).toBe('ok')
    expect(await check('postgres://petrel@127.0.0.1:1/none')).toMatch(/^CONNECTION_LOST: /)
  })

  test('blocks that a node has forgotten, and what rows of an earlier Petrel lack of them', async () => {
    const { view, vm, store } = exchange.node
    const bare = headersOnly(view)
    const whole = await askedNode({ view, vm })
    const forgetful = await askedNode({ view: bare, vm }, { url: server.url(), isFirst: false })
    const tipset = store.parent(store.parent(store.head()))
    const number = `0x${tipset.height.toString(16)}`
    const cid = { '/': String(tipset.key[0]) }
    const questions: [string, Json[]][] = [
      ['eth_getBlockByNumber', [number, true]],
      ['eth_getBlockByHash', [`0x${tipsetName(tipset)}`, false]],
      ['eth_getBlockReceipts', [number]],
      ['eth_feeHistory', ['0x2', number, [50]]],
      ['Filecoin.ChainGetBlockMessages', [cid]],
    ]
    const [before, after] = await Promise.all(
      [whole, forgetful].map((node) => Promise.all(questions.map(([name, params]) => node.ask(name, params)))),
    )
    expect(before?.every(({ error }) => error === undefined)).toBe(true)
    expect(after).toEqual(before)
    // One that was executed of no block of its tipset has no row.
    await runSql(
      server.url(),
      `update petrel.tipsets set logs_bloom = null`,
      `update petrel.blocks set messages = '{0, null}'`,
    )
    const errors = await Promise.all(questions.map(async ([name, params]) => (await forgetful.ask(name, params)).error))
    expect(errors.map((error) => (error as Row | undefined)?.message ?? 'ok')).toEqual([
      ...[expect.stringContaining('without the filter of its logs'), expect.stringContaining('without the filter')],
      ...['ok', 'ok', expect.stringContaining('could not find')],
    ])
    await Promise.all([whole.close(), forgetful.close()])
  })

  test('a follower that is ahead of its index stands, and says so', async () => {
    const { view } = exchange.node
    const bare = headersOnly(view)
    // As a replica's is: the newest executed one.
    bare.store.setHead(bare.store.parent(bare.store.head()))
    const reader = new PostgresReader(server.url(), timers)
    const edge = async <T>(read: () => T | Promise<T>): Promise<T> => read()
    const follower = new IndexFollower({ view: bare, reader, edge, clock: systemClock, timers, log: silentLog })
    await follower.reachFirst(new AbortController().signal, () => undefined)
    const { height } = bare.store.head()
    expect(follower.status).toEqual({ indexHeight: height, trouble: '' })
    // A backup of yesterday.
    await runSql(
      server.url(),
      `update petrel.tipsets set canonical = false where height = ${height}`,
      `update petrel.chain set (height, tipset) = (select height, tipset from petrel.tipsets where canonical order by height desc limit 1)`,
    )
    await follower.reachFirst(new AbortController().signal, () => undefined)
    expect(follower.status.trouble).toMatch(new RegExp(`gone back from epoch ${height} to \\d+: restored`))
    expect(bare.store.head().height).toBe(height)
    await runSql(
      server.url(),
      `update petrel.tipsets set canonical = true where height = ${height}`,
      `update petrel.chain set (height, tipset) = (select height, tipset from petrel.tipsets where canonical order by height desc limit 1)`,
    )
    await follower.reachFirst(new AbortController().signal, () => undefined)
    expect(follower.status).toEqual({ indexHeight: height, trouble: '' })
    await reader.close()
  })
})
