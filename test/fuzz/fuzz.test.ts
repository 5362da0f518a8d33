/** Every target with a fixed seed, for a short while; `npm run fuzz` is for longer ones. A find becomes a line of `finds.ts`. */
import { beforeAll, expect, test } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { FINDS } from './finds.ts'
import { type FuzzReport, fuzz } from './fuzzLoop.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { readCorpus } from './keptInputs.ts'
import { TARGETS } from './targets.ts'
import { runWatched } from './watched.ts'

const SEED = 20_261_122
const INPUTS = 3000
/** For all targets, after their seeds: most need a fraction of their share for that many inputs. */
const FUZZ_MS = 60_000
const MB = 1024 * 1024

const names = Object.keys(TARGETS)
const reports = new Map(names.map((name) => [name, Promise.withResolvers<FuzzReport>()]))

beforeAll(async () => {
  await initCrypto()
  const limit = { inputs: INPUTS, ms: FUZZ_MS / names.length }
  const module = new URL('./targets.ts', import.meta.url)
  // Awaited by each test, as far as its own target.
  runWatched({ names, module, seed: SEED, limit }, (name, report) => reports.get(name)?.resolve(report)).catch(
    (error: unknown) => {
      for (const { reject } of reports.values()) reject(error)
    },
  )
})

test.each(names)('%s takes anything, or refuses it by name', async (name) => {
  expect(readCorpus(name).length).toBeGreaterThan(0)
  const report = await reports.get(name)?.promise
  expect(report?.finds).toEqual([])
  expect(report?.mutated).toBeGreaterThan(0)
})

test.each(Object.entries(TARGETS))(
  '%s accepts one of its seeds, so that it is read to its end',
  async (_name, target) => {
    const refusals: unknown[] = []
    const seeds = await target.seeds()
    for (const seed of seeds) {
      try {
        await target.run(seed)
      } catch (error) {
        refusals.push(error)
      }
    }
    expect(refusals.length, String(refusals[0])).toBeLessThan(seeds.length)
  },
)

test('what was found once is taken, or refused by name', async () => {
  for (const { target, what, input } of FINDS) {
    try {
      await (TARGETS[target] as FuzzTarget).run(fromHex(input))
    } catch (error) {
      expect(error, `${target}: ${what}`).toBeInstanceOf(PetrelError)
    }
  }
})

test('a fault of a target is found', async () => {
  const faulty: FuzzTarget = {
    seeds: () => [Uint8Array.of(1, 2, 3)],
    run: (input) => {
      if (input[0] === 1 && input.length > 4) throw new TypeError('a bug')
    },
  }
  expect((await fuzz(faulty, [], SEED, { inputs: INPUTS })).finds[0]?.what).toContain('a bug')
  const late: FuzzTarget = { ...faulty, run: async (input) => faulty.run(input) }
  expect((await fuzz(late, [], SEED, { inputs: INPUTS })).finds[0]?.what).toContain('a bug')
})

test('the inputs of a limit are those that are made, however many seeds there are', async () => {
  const target: FuzzTarget = {
    seeds: () => Array.from({ length: 40 }, (_, i) => new Uint8Array(1 + i)),
    run: () => undefined,
  }
  const report = await fuzz(target, [Uint8Array.of(1)], SEED, { inputs: 10 })
  expect([report.inputs, report.mutated]).toEqual([51, 10])
})

test.each([
  ['at the end of a short run', 2 * MB, 300],
  ['on the way of a long one', 2 * MB, 1_000_000],
])('memory that a target does not give back is found %s', async (_name, bytes, inputs) => {
  const held: Uint8Array[] = []
  const target: FuzzTarget = { seeds: () => [new Uint8Array(1)], run: () => void held.push(new Uint8Array(bytes)) }
  const { finds } = await fuzz(target, [], SEED, { inputs })
  expect(finds.map(({ what }) => what)).toEqual(['memory above the bound'])
  // 512 MiB are 256 of them; a look comes every 500, and the first may still count the rubbish of the test before as there from the start.
  expect(held.length).toBeLessThanOrEqual(1000)
})
