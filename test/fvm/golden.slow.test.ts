/**
 * Every recorded chain, every tipset: state root, receipts, and the whole execution trace as Lotus recorded it, each gas
 * charge by name and amount (times excepted). `PETREL_GOLDEN=nv28,nv17` picks chains.
 */
import { describe, expect, it } from 'vitest'
import { listShared, missingShared, sharedMissing } from '../support/shared.ts'
import { missingActors } from './support/actorCode.ts'
import { checkChain } from './support/checkChain.ts'
import { checkInThread } from './support/checkInThread.ts'
import { openGoldenChain } from './support/goldenChain.ts'

/** Without recorded executions; their headers still name every state root. */
const DEEP = 'nv28-depth'

function chains(): string[] {
  const picked = process.env.PETREL_GOLDEN
  if (picked !== undefined) return picked.split(',')
  if (sharedMissing) return []
  return listShared('data/golden').filter((name) => missingShared(`data/golden/${name}/chain.car.zst`) === undefined)
}

describe('recorded chains', () => {
  it.skipIf(sharedMissing)('are here', () => expect(chains()).not.toEqual([]))

  for (const name of chains()) {
    it(`${name}: executes as Lotus did`, { timeout: 600_000 }, async ({ skip }) => {
      const golden = openGoldenChain(name)
      const missing = missingActors(golden.network)
      skip(missing !== undefined, missing)
      // Calls nest 294 deep there: more than a thread's default stack holds.
      const check = name === DEEP ? await checkInThread(name) : checkChain(name, 10, golden)
      expect(check.failures).toEqual([])
      expect(check.tipsets).toBe(golden.tipsets.length)
    })
  }
})
