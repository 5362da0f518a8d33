/**
 * Failovers of the database: a primary that is killed with -9 while it is written, a standby that is promoted, with all transactions or
 * without the last ones. Nothing is lost and nothing doubled. By hand with more of them:
 * `PETREL_FAILOVERS=20 node scripts/vitest.ts test/index/failover.slow.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { PostgresReader } from '../../platform/server/index/postgresReader.ts'
import type { IndexWriter } from '../../src/index/indexWriter.ts'
import { tipsetName } from '../../src/index/tipsetRows.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { seeded } from '../support/seeded.ts'
import { allRows, caughtUp, connect, freshRows, newDatabase } from './indexed.ts'
import { type Exchange, exchangeChain } from './indexedChain.ts'
import { neverFinal, timers, writerOf } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)
const FAILOVERS = Number(process.env.PETREL_FAILOVERS ?? 2)
const MOST_TIPSETS = 8
/** A loaded machine takes its time. */
const LONGEST_WAIT_MS = 120_000
const DATABASE = 'chain'

async function run(server: TestPostgres, ...statements: string[]): Promise<void> {
  const sql = connect(server.url())
  for (const text of statements) await sql.unsafe(text)
  await sql.end()
}

/** One URL of two servers. */
function both(one: TestPostgres, other: TestPostgres): string {
  const { host } = new URL(other.url())
  return one.url(DATABASE).replace(/@([^/]+)/, `@$1,${host}`)
}

describe.skipIf(missing !== undefined)('failovers', () => {
  const servers: TestPostgres[] = []
  let primary: TestPostgres
  beforeAll(async () => {
    primary = await TestPostgres.start()
    servers.push(primary)
    await newDatabase(primary.url(), DATABASE)
  }, 60_000)
  afterAll(async () => {
    for (const server of servers) await server.end()
  })

  test.each([
    ['a standby that has all', true],
    ['a standby that lacks the last transactions', false],
  ] as const)('%s', { timeout: 120_000 + 30_000 * FAILOVERS }, async (_, isSynchronous) => {
    const random = seeded('failovers')
    const exchange = await exchangeChain(isSynchronous ? 'synchronous' : 'asynchronous')
    await run(primary, `drop database ${DATABASE} with (force)`, `create database ${DATABASE}`)
    let stood = 0
    let wentBack = 0
    for (let i = 0; i < FAILOVERS; i++) {
      const standby = await primary.standby()
      servers.push(standby)
      if (isSynchronous) {
        await run(primary, `alter system set synchronous_standby_names = 'standby'`, 'select pg_reload_conf()')
      }
      const url = both(primary, standby)
      const writer = writerOf(exchange.node, url)
      writer.start(neverFinal(exchange.node))
      await exchange.mine()
      await caughtUp(writer, LONGEST_WAIT_MS)
      if (!isSynchronous) {
        await replayed(primary, standby)
        await standby.kill('SIGINT')
        stood = writer.status.height ?? 0
      }
      await load(exchange, 1 + random.int(MOST_TIPSETS), writer)
      await exchange.node.devnet.mine(0, { fork: 2 })
      await load(exchange, 1 + random.int(MOST_TIPSETS), writer)
      await primary.kill()
      const before = writer.status.height ?? 0
      if (isSynchronous) {
        const sql = connect(standby.url(DATABASE))
        // What was told to be committed is there; one more may have been on its way.
        await expect
          .poll(async () => Number((await sql`select height from petrel.chain`)[0]?.height), {
            timeout: LONGEST_WAIT_MS,
          })
          .toBeGreaterThanOrEqual(before)
        await sql.end()
      } else {
        await standby.restart()
      }
      await exchange.mine()
      await run(standby, 'alter system reset synchronous_standby_names', 'select pg_promote()')
      await exchange.mine()
      await caughtUp(writer, LONGEST_WAIT_MS)
      if (before > stood) wentBack++
      // Readers, too, find the one that is there.
      const reader = new PostgresReader(url, timers)
      const { store } = exchange.node
      expect((await reader.standing(tipsetName(store.head())))?.height).toBe(store.parent(store.head()).height)
      await reader.close()
      // One that waits for a standby before it commits takes nothing anyway.
      if (i === 0 && !isSynchronous) await comeBack(primary, standby, exchange, writer)
      await writer.stop()
      primary = standby
    }
    if (!isSynchronous) expect(wentBack).toBeGreaterThan(0)
    const fresh = await newDatabase(primary.url(), `fresh_${isSynchronous}`)
    expect(await allRows(primary.url(DATABASE), 'canonical'), `seed ${random.seed}`).toEqual(
      await freshRows(exchange.node, fresh, LONGEST_WAIT_MS),
    )
    console.log(`${FAILOVERS} failovers, ${isSynchronous ? 'none' : wentBack} to a database that was behind its writer`)
  })

  /** So many tipsets, of which at least one is written when this ends, and most are not. */
  async function load(exchange: Exchange, tipsets: number, writer: IndexWriter): Promise<void> {
    const written = writer.status.tipsets
    for (let i = 0; i < tipsets; i++) {
      await exchange.mine()
      // The writer's sockets have their turn.
      await new Promise(setImmediate)
    }
    await vi.waitFor(() => expect(writer.status.tipsets).toBeGreaterThan(written), {
      timeout: LONGEST_WAIT_MS,
      interval: 1,
    })
  }

  /** The primary that was left for dead comes back, and the one that took over goes away for a while: nothing is written meanwhile. */
  async function comeBack(
    left: TestPostgres,
    current: TestPostgres,
    exchange: Exchange,
    writer: IndexWriter,
  ): Promise<void> {
    await left.restart()
    const standing = await heightOf(left)
    await current.kill()
    const { failures } = writer.status
    await exchange.mine()
    await exchange.mine()
    await vi.waitFor(() => expect(writer.status.failures).toBeGreaterThan(failures + 2), { timeout: LONGEST_WAIT_MS })
    expect(await heightOf(left)).toBe(standing)
    await current.restart()
    await caughtUp(writer, LONGEST_WAIT_MS)
    expect(await heightOf(left)).toBe(standing)
    await left.kill()
  }

  async function heightOf(server: TestPostgres): Promise<number> {
    const sql = connect(server.url(DATABASE))
    const [row] = await sql`select height from petrel.chain`
    await sql.end()
    return Number(row?.height)
  }

  async function replayed(from: TestPostgres, to: TestPostgres): Promise<void> {
    const [first, second] = [connect(from.url()), connect(to.url())]
    const [{ at }] = (await first`select pg_current_wal_lsn()::text as at`) as unknown as [{ at: string }]
    await vi.waitFor(
      async () =>
        expect((await second`select pg_last_wal_replay_lsn() >= ${at}::pg_lsn as there`)[0]?.there).toBe(true),
      { timeout: 20_000, interval: 20 },
    )
    await first.end()
    await second.end()
  }
})
