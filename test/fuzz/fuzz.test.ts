/** Every target with a fixed seed, for a short while; `npm run fuzz` is for longer ones. A find becomes a line of `finds.ts`. */
import { beforeAll, expect, test } from 'vitest'
import { fromHex } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { FINDS } from './finds.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { fuzz, readCorpus } from './run.ts'
import { TARGETS } from './targets.ts'

const SEED = 20_261_122
const INPUTS = 3000

beforeAll(async () => void (await initCrypto()))

test.each(Object.entries(TARGETS))('%s takes anything, or refuses it by name', async (name, target) => {
  const corpus = readCorpus(name)
  expect(corpus.length).toBeGreaterThan(0)
  const report = await fuzz(target, corpus, SEED, { inputs: INPUTS })
  expect(report.finds).toEqual([])
  expect(report.inputs).toBeGreaterThanOrEqual(INPUTS)
})

test.each(Object.entries(TARGETS))(
  '%s accepts one of its seeds, so that it is read to its end',
  async (_name, target) => {
    const refusals: unknown[] = []
    const seeds = target.seeds()
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
