import { describe, expect, it } from 'vitest'
import { epochsLeft, SYNC_STAGE, SyncProgress } from '../../src/sync/syncState.ts'
import type { Tipset } from '../../src/types/tipset.ts'

const at = (height: number): Tipset => ({ height }) as Tipset
const left = (...workers: SyncProgress[]): number =>
  epochsLeft({ activeSyncs: workers.map(({ state }) => state), vmApplied: 0 })

describe('what is left of a sync', () => {
  it('is counted while messages are checked, from the head on', () => {
    const worker = new SyncProgress(1, () => 0)
    expect(left(worker)).toBe(0)
    worker.begin(at(10), at(300))
    // Headers are collected downwards: nothing is executed yet.
    worker.height(250)
    expect(left(worker)).toBe(0)
    worker.stage(SYNC_STAGE.messages)
    worker.height(0)
    expect(left(worker)).toBe(290)
    worker.height(40)
    expect(left(worker)).toBe(260)
    worker.stage(SYNC_STAGE.complete)
    expect(left(worker)).toBe(0)
  })

  it('is that of the worker that has most', () => {
    const [far, near] = [new SyncProgress(1, () => 0), new SyncProgress(2, () => 0)]
    for (const [worker, target] of [
      [far, 90],
      [near, 12],
    ] as const) {
      worker.begin(at(10), at(target))
      worker.stage(SYNC_STAGE.messages)
    }
    expect(left(near, far)).toBe(80)
    expect(left()).toBe(0)
  })
})
