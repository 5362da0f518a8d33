/** A backfill by threads, stopped or killed and gone on with, gives the rows that following gives. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Home } from '../../platform/server/home.ts'
import { type BackfillOptions, backfill } from '../../platform/server/index/backfill.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared, ROOT, sharedPath } from '../support/shared.ts'
import { allRows, caughtUp, connect, newDatabase } from './indexed.ts'
import { neverFinal, writerOf } from './writers.ts'

const CHAIN = 'nv28'
const FOLDER = `data/golden/${CHAIN}`
const HOME = join(homedir(), '.petrel')
const absent = missingPostgres() ?? missingShared(FOLDER)
const recorded = absent === undefined ? openRecordedView(CHAIN) : undefined
const missing = absent ?? (recorded?.executes === true ? undefined : `no actors bundle for ${CHAIN}`)
if (missing !== undefined) console.log(`skipped: ${missing}`)
/** More than a progress is told of, milliseconds. */
const MINUTE_MS = 60_000
/** Tipsets that stand before each kill; the first one is while the index begins, or before. */
const KILLED_FROM = [0, 17, 40] as const
/** Longest time from there to the kill: about a transaction and its execution. */
const LONGEST_MS = 1000

describe.skipIf(missing !== undefined)('backfill', () => {
  let server: TestPostgres
  /** Every row that following writes. */
  let whole: Record<string, string[]>
  let target: number
  const archive = (): string => sharedPath(`${FOLDER}/chain.car.zst`)
  const network = (): string => sharedPath(`${FOLDER}/network.json`)

  beforeAll(async () => {
    server = await TestPostgres.start()
    const followed = await newDatabase(server.url(), 'followed')
    const indexed = recorded as NonNullable<typeof recorded>
    const { store } = indexed.view
    target = store.parent(store.head()).height
    const writer = writerOf(indexed, followed)
    writer.start(neverFinal(indexed))
    await caughtUp(writer, 200_000)
    await writer.stop()
    whole = await allRows(followed, 'petrel')
  }, 240_000)
  afterAll(async () => server?.end())

  /** @param said - what it tells @param now - by which it tells how far it is */
  function options(
    url: string,
    signal: AbortSignal,
    workers: number,
    said: string[] = [],
    now: () => number = Date.now,
  ): BackfillOptions {
    return {
      ...{ archive: archive(), network: network(), url, workers, from: undefined, home: new Home(HOME) },
      io: {
        env: {},
        out: (text: string) => void said.push(text),
        err: () => undefined,
        now,
        signal,
      } as unknown as BackfillOptions['io'],
    }
  }

  const tipsetsOf = async (url: string): Promise<number> => {
    const sql = connect(url)
    try {
      const [row] = await sql`select count(*)::int as count from canonical.tipsets`
      return row?.count as number
    } catch {
      return 0
    } finally {
      await sql.end()
    }
  }

  test('writes what following writes', { timeout: 240_000 }, async () => {
    const url = await newDatabase(server.url(), 'filled')
    const stop = new AbortController()
    const said: string[] = []
    const first = backfill(options(url, stop.signal, 2, said))
    await expect.poll(() => tipsetsOf(url), { timeout: 60_000, interval: 20 }).toBeGreaterThan(16)
    stop.abort(new Error('stopped by the test'))
    // At once, whatever is still to end.
    expect(said.at(-1)).toBe('stopping: what is being written and executed\n')
    await expect(first).rejects.toThrow('stopped by the test')
    const sql = connect(url)
    const [at] = await sql`select height from canonical.head`
    await sql.end()
    expect(said.at(-1)).toBe(`the index is at epoch ${at?.height}: the same command goes on from there\n`)
    const before = await tipsetsOf(url)
    const told: string[] = []
    let now = 0
    const later = options(url, new AbortController().signal, 2, told, () => (now += MINUTE_MS))
    const { tipsets, seconds, height } = await backfill(later)
    console.log(
      `${before} tipsets, then ${tipsets} in ${seconds.toFixed(1)} s: ${Math.round((60 * tipsets) / seconds)} a minute`,
    )
    expect(height).toBe(target)
    const progress = told
      .map((line) => /^epoch (\d+): [1-9]\d* tipsets a minute, (\d+) epochs to go, about \d+ s\n$/.exec(line))
      .filter((line) => line !== null)
    expect(progress.length, told.join('')).toBeGreaterThan(0)
    // Before there is a pace none is told.
    expect(told.filter((line) => /NaN|Infinity|: 0 tipsets/.test(line))).toEqual([])
    for (const [, epoch, left] of progress) expect(Number(epoch) + Number(left)).toBe(height)
    expect(before + tipsets).toBe(whole.tipsets?.length)
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

  test('killed with -9 and begun again, it has the same rows', { timeout: 400_000 }, async () => {
    const url = await newDatabase(server.url(), 'killed')
    const repo = mkdtempSync(join(tmpdir(), 'petrel-backfill-'))
    symlinkSync(join(HOME, 'actors'), join(repo, 'actors'))
    const args = ['--repo', repo, 'index', 'backfill', '--from', archive(), '--network', network(), '--index', url]
    const start = () =>
      spawn(process.execPath, [join(ROOT, 'bin/petrel.js'), ...args, '--workers', '2'], {
        stdio: ['ignore', 'inherit', 'inherit'],
        // What it starts is killed with it.
        detached: true,
      })
    const connections = async (): Promise<number> => {
      const sql = connect(server.url())
      const [row] = await sql`select count(*)::int as count from pg_stat_activity where application_name = 'petrel'`
      await sql.end()
      return row?.count as number
    }
    const random = seeded('kills of a backfill')
    const stood: number[] = []
    try {
      for (const from of KILLED_FROM) {
        const child = start()
        const ended = once(child, 'exit')
        const isDue = async (): Promise<void> => {
          expect(await connections()).toBeGreaterThan(0)
          expect(await tipsetsOf(url)).toBeGreaterThanOrEqual(from)
        }
        await vi.waitFor(isDue, { timeout: 120_000, interval: 50 })
        await sleep(random.int(LONGEST_MS))
        process.kill(-(child.pid as number), 'SIGKILL')
        expect(await ended).toEqual([null, 'SIGKILL'])
        await vi.waitFor(async () => expect(await connections()).toBe(0), { timeout: 20_000, interval: 50 })
        stood.push(await tipsetsOf(url))
      }
      const [code] = await once(start(), 'exit')
      expect(code).toBe(0)
    } finally {
      rmSync(repo, { recursive: true, force: true })
    }
    console.log(`killed at ${stood.join(', ')} of ${whole.tipsets?.length} tipsets`)
    // In the midst of it.
    expect(stood.at(-1)).toBeLessThan(whole.tipsets?.length ?? 0)
    expect(await allRows(url, 'petrel'), `seed ${random.seed}`).toEqual(whole)
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
