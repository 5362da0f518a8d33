/** A backfill by threads, stopped and gone on with, gives the rows that following gives. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Home } from '../../platform/server/home.ts'
import { type BackfillOptions, backfill } from '../../platform/server/index/backfill.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared, sharedPath } from '../support/shared.ts'
import { allRows, caughtUp, connect, newDatabase } from './indexed.ts'
import { neverFinal, writerOf } from './writers.ts'

const CHAIN = 'nv28'
const missing = missingPostgres() ?? missingShared(`data/golden/${CHAIN}`)
if (missing !== undefined) console.log(`skipped: ${missing}`)

describe.skipIf(missing !== undefined)('backfill', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await TestPostgres.start()
  }, 60_000)
  afterAll(async () => server?.end())

  /** @param said - what it tells */
  function options(url: string, signal: AbortSignal, workers: number, said: string[] = []): BackfillOptions {
    return {
      archive: sharedPath(`data/golden/${CHAIN}/chain.car.zst`),
      network: sharedPath(`data/golden/${CHAIN}/network.json`),
      ...{ url, workers, from: undefined, home: new Home(join(homedir(), '.petrel')) },
      io: {
        env: {},
        out: (text: string) => void said.push(text),
        err: () => undefined,
        now: () => Date.now(),
        signal,
      } as unknown as BackfillOptions['io'],
    }
  }

  test('writes what following writes', { timeout: 240_000 }, async () => {
    const { view, vm, executes } = openRecordedView(CHAIN)
    if (!executes) return console.log(`skipped: no actors bundle for ${CHAIN}`)
    const followed = await newDatabase(server.url(), 'followed')
    const indexed = { view, vm: vm }
    const writer = writerOf(indexed, followed)
    writer.start(neverFinal(indexed))
    await caughtUp(writer, 200_000)
    await writer.stop()
    const url = await newDatabase(server.url(), 'filled')
    const stop = new AbortController()
    const said: string[] = []
    const first = backfill(options(url, stop.signal, 2, said))
    const some = async (): Promise<number> =>
      ((await allRows(url, 'canonical').catch(() => ({}))) as { tipsets?: string[] }).tipsets?.length ?? 0
    await expect.poll(some, { timeout: 60_000, interval: 20 }).toBeGreaterThan(16)
    stop.abort(new Error('stopped by the test'))
    // At once, whatever is still to end.
    expect(said.at(-1)).toBe('stopping: what is being written and executed\n')
    await expect(first).rejects.toThrow('stopped by the test')
    const sql = connect(url)
    const [at] = await sql`select height from canonical.head`
    await sql.end()
    expect(said.at(-1)).toBe(`the index is at epoch ${at?.height}: the same command goes on from there\n`)
    const before = await some()
    const { tipsets, seconds, height } = await backfill(options(url, new AbortController().signal, 2))
    console.log(
      `${before} tipsets, then ${tipsets} in ${seconds.toFixed(1)} s: ${Math.round((60 * tipsets) / seconds)} a minute`,
    )
    expect(height).toBe(view.store.parent(view.store.head()).height)
    expect(before + tipsets).toBe((await allRows(followed, 'canonical')).tipsets?.length)
    const whole = await allRows(followed, 'petrel')
    expect(await allRows(url, 'petrel')).toEqual(whole)
    // What the steps of the schema leave in rows of its first version.
    const earlier = connect(url)
    await earlier.unsafe(`update petrel.messages set events_root = '', signature = ''; update petrel.blocks set messages = null;
      update petrel.tipsets set logs_bloom = null`)
    await earlier.end()
    const again = await backfill(options(url, new AbortController().signal, 2))
    console.log(`${again.completed} tipsets completed in ${again.seconds.toFixed(1)} s`)
    expect(again).toMatchObject({ tipsets: 0, completed: whole.tipsets?.length, height })
    expect(await allRows(url, 'petrel')).toEqual(whole)
  })

  test('refuses an archive that is not there, or of another network', async () => {
    const url = await newDatabase(server.url(), 'refused')
    const signal = new AbortController().signal
    const gone = { ...options(url, signal, 1), archive: '/nowhere.car' }
    await expect(backfill(gone)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    const other = options(url, signal, 1)
    await expect(backfill({ ...other, network: 'calibnet' })).rejects.toThrow()
    expect((await allRows(url, 'petrel').catch(() => 'no tables')) as unknown).toBe('no tables')
  })
})
