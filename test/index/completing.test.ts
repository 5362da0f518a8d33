/** Rows of an earlier Petrel: what its schema did not have is filled in, and nothing else is touched. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import { utf8 } from '../../src/base/bytes.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import type { IndexedTipset, IndexSession } from '../../src/index/indexStore.ts'
import { indexedChain } from '../../src/index/indexWriter.ts'
import { LISTED_TIPSETS, MAX_MISSES } from '../../src/index/limits.ts'
import { RowCompleter } from '../../src/index/rowCompleter.ts'
import { TipsetRows } from '../../src/index/tipsetRows.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { silentLog } from '../support/recordedView.ts'
import { allRows, caughtUp, connect, freshRows, newDatabase } from './indexed.ts'
import { type Exchange, exchangeChain } from './indexedChain.ts'
import { neverFinal, timers, writerOf } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

/** What the steps of the schema leave in rows from before. */
const AS_OF = {
  1: `update petrel.messages set events_root = '', signature = ''; update petrel.tipsets set logs_bloom = null;
    update petrel.blocks set messages = null`,
  2: `update petrel.tipsets set logs_bloom = null; update petrel.blocks set messages = null`,
} as const

describe.skipIf(missing !== undefined)('rows of an earlier Petrel', () => {
  let server: TestPostgres
  let exchange: Exchange
  let databases = 0

  beforeAll(async () => {
    server = await TestPostgres.start()
    exchange = await exchangeChain()
    for (let i = 0; i < 6; i++) await exchange.mine(i === 3 ? { nullRounds: 2 } : {})
  }, 60_000)
  afterAll(async () => server?.end())

  /** A database as that version left it, some of its tipsets written since; and all its rows as they should be. */
  async function upgraded(version: keyof typeof AS_OF) {
    const url = await newDatabase(server.url(), `completing_${databases++}`)
    await freshRows(exchange.node, url)
    const whole = await allRows(url, 'petrel')
    const sql = connect(url)
    await sql.unsafe(AS_OF[version])
    await sql.end()
    const lacking = await allRows(url, 'petrel')
    expect(lacking).not.toEqual(whole)
    return { url, whole, lacking }
  }

  test.each([1, 2] as const)('of schema version %s are completed while the head is followed', async (version) => {
    const { url, whole } = await upgraded(version)
    const writer = writerOf(exchange.node, url)
    writer.start(neverFinal(exchange.node))
    await caughtUp(writer)
    await expect.poll(() => allRows(url, 'petrel'), { timeout: 15_000 }).toEqual(whole)
    // And it goes on.
    await exchange.mine()
    await caughtUp(writer)
    await writer.stop()
    const fresh = await newDatabase(server.url(), `completing_${databases++}`)
    expect(await allRows(url, 'canonical')).toEqual(await freshRows(exchange.node, fresh))
  })

  /** A session on a database, and a completer that asks it. */
  async function completing(url: string, run: (session: IndexSession, completer: RowCompleter) => Promise<void>) {
    const { view, vm, store } = exchange.node
    const index = new PostgresIndex(url, timers)
    const session = await index.open(indexedChain(view), new AbortController().signal, () => undefined)
    try {
      await run(session, new RowCompleter(new TipsetRows(view, vm), store, silentLog))
    } finally {
      await session.close()
    }
  }

  test('a connection that ends in between loses nothing: the next one goes on', async () => {
    const { url, whole } = await upgraded(1)
    await completing(url, async (session, completer) => {
      expect(await completer.next(session)).toBe(true)
      await session.close()
      await expect(completer.next(session)).rejects.toMatchObject({ code: 'CONNECTION_LOST' })
      expect(completer.completed).toBe(1)
      const index = new PostgresIndex(url, timers)
      const { view } = exchange.node
      const again = await index.open(indexedChain(view), new AbortController().signal, () => undefined)
      while (await completer.next(again));
      await again.close()
      expect(completer.left).toBe(0)
    })
    expect(await allRows(url, 'petrel')).toEqual(whole)
  })

  test('whose states are gone are left as they are, and after some the rest is given up', async () => {
    const asked: [below: number, most: number][] = []
    const unknown = [String(blockCid(utf8('no header that anybody has')))]
    const tipsets: IndexedTipset[] = Array.from({ length: 100 }, (_, i) => ({ height: 1000 - i, key: unknown }))
    const session = {
      lacking: (below: number, most: number) => {
        asked.push([below, most])
        return Promise.resolve(tipsets.filter(({ height }) => height < below).slice(0, most))
      },
      complete: () => Promise.reject(new Error('nothing is to be written')),
    } as unknown as IndexSession
    const { view, vm, store } = exchange.node
    const completer = new RowCompleter(new TipsetRows(view, vm), store, silentLog)
    while (await completer.next(session));
    expect([completer.completed, completer.left]).toEqual([0, MAX_MISSES])
    expect(await completer.next(session)).toBe(false)
    expect(asked).toEqual([[Number.MAX_SAFE_INTEGER, LISTED_TIPSETS]])
  })
})
