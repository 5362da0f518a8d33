/** What becomes of a target that does not come back. */
import { expect, test } from 'vitest'
import { toHex } from '../../src/base/bytes.ts'
import { FAULTY_INPUT, TARGETS } from './faultyTargets.ts'
import type { FuzzReport } from './fuzzLoop.ts'
import { runWatched } from './watched.ts'

const SEED = 20_261_129
const STUCK_MS = 2000

test('an input without end is named, and the next target goes on', async () => {
  const names = Object.keys(TARGETS)
  const reports = new Map<string, FuzzReport>()
  const module = new URL('./faultyTargets.ts', import.meta.url)
  await runWatched({ names, module, seed: SEED, limit: { inputs: 5 }, stuckMs: STUCK_MS }, (name, report) =>
    reports.set(name, report),
  )
  expect([...reports.keys()]).toEqual(names)
  const found = (name: string) => reports.get(name)?.finds[0]
  const expected: Readonly<Record<string, string>> = {
    endless: 'no end',
    waiting: 'something is awaited that never comes',
    busy: 'no end',
    dying: 'the thread ended by itself (3)',
    unawaited: 'nobody hears it',
  }
  for (const [name, what] of Object.entries(expected)) {
    expect(found(name)?.what, name).toContain(what)
    // A rejection is told when the thread has nothing else to do.
    if (name !== 'unawaited') expect(found(name)?.input, name).toBe(toHex(FAULTY_INPUT))
  }
  expect(found('well')).toBeUndefined()
  expect(reports.get('well')?.mutated).toBe(5)
})
