/**
 * Writers that are killed with -9, their connections and their server: nothing is lost and nothing doubled. By hand with more moments:
 * `PETREL_KILLS=200 node scripts/vitest.ts test/index/kills.slow.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { seeded } from '../support/seeded.ts'
import { allRows, freshRows, newDatabase } from './indexed.ts'
import { growTo } from './indexedChain.ts'
import { EPOCHS, killedWriters } from './kills.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)
/** A database is used up when it holds the chain: then the next one begins. */
const MOMENTS = 10
const total = Number(process.env.PETREL_KILLS ?? MOMENTS)

describe.skipIf(missing !== undefined)('kills', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await TestPostgres.start()
  }, 60_000)
  afterAll(async () => server?.end())

  test('at random moments', { timeout: 120_000 + 6000 * total }, async () => {
    const random = seeded('kills')
    const expected = await freshRows((await growTo(EPOCHS)).node, await newDatabase(server.url(), 'fresh'))
    for (let done = 0, round = 0; done < total; done += MOMENTS, round++) {
      const url = await newDatabase(server.url(), `killed_${round}`)
      const kills = await killedWriters(server, url, MOMENTS, (below) => random.int(below))
      console.log(`round ${round}:`, JSON.stringify(kills))
      expect(await allRows(url, 'canonical'), `seed ${random.seed}`).toEqual(expected)
    }
  })
})
