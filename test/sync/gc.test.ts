/** Collection of old blocks: what must stay stays at every moment, what need not goes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { LmdbEnvironment } from '../../platform/server/lmdbStore.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { CollectableMemory } from '../../src/ipld/collectable.ts'
import { Collector } from '../../src/sync/gc/collector.ts'
import { collectableContract } from '../contract/collectable.ts'
import { silentLog } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'
import { KEEP, Model, run } from './gcModel.ts'

collectableContract('memory', () => {
  const blocks = new CollectableMemory()
  return Promise.resolve({ blocks, commit: () => undefined, close: () => Promise.resolve() })
})
collectableContract('LMDB', () => {
  const path = mkdtempSync(join(tmpdir(), 'petrel-collectable-'))
  const environment = new LmdbEnvironment({ path })
  const close = async (): Promise<void> => {
    await environment.close()
    rmSync(path, { recursive: true })
  }
  return Promise.resolve({ blocks: environment.blocks, commit: () => environment.commit(), close })
})

describe('collection of old blocks', () => {
  beforeAll(() => initCrypto())

  it('loses nothing that is needed: any order of blocks, forks, pieces of collections and crashes', () => {
    const random = seeded('collection')
    let crashes = 0
    let collections = 0
    for (let chain = 0; chain < 6; chain++) {
      const counts = run(new Model(random, new CollectableMemory()), 500)
      crashes += counts.crashes
      collections += counts.collections
    }
    expect(crashes).toBeGreaterThan(5)
    expect(collections).toBeGreaterThan(20)
  })

  it('the same on LMDB', async () => {
    const path = mkdtempSync(join(tmpdir(), 'petrel-gc-'))
    const environment = new LmdbEnvironment({ path })
    try {
      run(new Model(seeded('collection on LMDB'), environment.blocks), 300)
    } finally {
      await environment.close()
      rmSync(path, { recursive: true })
    }
  })

  it('keeps the store bounded: headers apart, it does not grow with the chain', async () => {
    const random = seeded('bounded')
    const blocks = new CollectableMemory()
    const model = new Model(random, blocks)
    const sizes: number[] = []
    for (let round = 0; round < 12; round++) {
      for (let i = 0; i < 10; i++) {
        model.draft()
        model.finishDraft()
        model.forgetOldStates()
      }
      // Nothing is new any more.
      model.nowMs += 1_300_000
      model.crash()
      const before = blocks.size
      model.startCollection()
      while (model.collection !== undefined) model.stepCollection()
      expect(blocks.size).toBeLessThan(before)
      model.check()
      sizes.push(blocks.size - model.headers.length)
    }
    // Genesis, and KEEP epochs with some branches.
    expect(Math.max(...sizes.slice(2))).toBeLessThan(KEEP * 3 * 12)
    expect((sizes.at(-1) as number) / (sizes[2] as number)).toBeLessThan(2)
    await Promise.resolve()
  })

  it('takes old state while a node catches up: days of it are put within minutes', async () => {
    const blocks = new CollectableMemory()
    const model = new Model(seeded('catching up'), blocks)
    const collector = new Collector(
      {
        store: model.store,
        blocks,
        meta: model.meta,
        roots: () => [],
        // Time stands still.
        clock: { nowMs: () => 0, monotonicMs: () => 0 },
        timers: {
          setTimeout: (fn) => {
            queueMicrotask(fn)
            return () => undefined
          },
        },
        log: silentLog,
      },
      { stateEpochs: KEEP, messageEpochs: KEEP },
    )
    const grow = (epochs: number): void => {
      for (const until = model.store.head().height + epochs; model.store.head().height < until; ) {
        model.draft()
        model.finishDraft()
        model.forgetOldStates()
      }
    }
    // Its own blocks are new still.
    grow(800)
    expect((await collector.collect())?.deleted).toBe(0)
    grow(1100)
    const long = collector.collect()
    // What comes while one is under way is as old for the next one as what comes between two.
    grow(1900)
    expect((await long)?.deleted).toBeGreaterThan(800)
    expect((await collector.collect())?.deleted).toBeGreaterThan(800)
    model.check()
    await collector.stop()
  })

  it('rests the less the further the head has moved meanwhile', async () => {
    const blocks = new CollectableMemory()
    const model = new Model(seeded('resting'), blocks)
    const rests: number[] = []
    let now = 0
    const grow = (): void => {
      model.draft()
      model.finishDraft()
    }
    for (let i = 0; i < 60; i++) grow()
    const collector = new Collector(
      {
        store: model.store,
        blocks,
        meta: model.meta,
        roots: () => [],
        clock: { nowMs: () => 0, monotonicMs: () => (now += 5) },
        timers: {
          setTimeout: (fn, ms) => {
            rests.push(ms)
            grow()
            queueMicrotask(fn)
            return () => undefined
          },
        },
        log: silentLog,
      },
      { stateEpochs: KEEP, messageEpochs: KEEP, intervalEpochs: 20, restMs: 10, sliceMs: 5, stepBlocks: 20 },
    )
    await collector.collect()
    expect(rests[0]).toBe(10)
    expect(rests.every((ms, i) => i === 0 || ms <= (rests[i - 1] as number))).toBe(true)
    expect(rests.at(-1)).toBe(0)
    expect(rests.some((ms) => ms > 0 && ms < 10)).toBe(true)
    await collector.stop()
  })

  it('runs by itself as the head moves, starts again after it was cut short, and stops', async () => {
    const random = seeded('collector')
    const blocks = new CollectableMemory()
    const model = new Model(random, blocks)
    const pending: (() => void)[] = []
    let now = 0
    const deps = {
      store: model.store,
      blocks,
      meta: model.meta,
      roots: () => model.states.values(),
      clock: { nowMs: () => now, monotonicMs: () => (now += 3) },
      timers: {
        setTimeout: (fn: () => void) => {
          pending.push(fn)
          return () => void pending.splice(pending.indexOf(fn), 1)
        },
      },
      log: silentLog,
    }
    const settings = { stateEpochs: KEEP, messageEpochs: KEEP, intervalEpochs: 10, stepBlocks: 10 }
    const settle = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) await Promise.resolve()
    }
    const grow = (count: number): void => {
      for (let i = 0; i < count; i++) {
        model.draft()
        model.finishDraft()
      }
    }
    const first = new Collector(deps, settings)
    first.start()
    expect(first.status.phase).toBe('idle')
    grow(40)
    expect(first.status.phase).toBe('finding')
    while (pending.length > 0 && first.status.phase !== 'sweeping') {
      pending.shift()?.()
      await settle()
    }
    expect(first.status.phase).toBe('sweeping')
    // Killed here: another one finds the note and begins at once.
    const second = new Collector(deps, settings)
    second.start()
    expect(second.status.phase).toBe('finding')
    const done = second.collect()
    while (second.status.phase !== 'idle') {
      pending.pop()?.()
      await settle()
    }
    expect((await done)?.headHeight).toBe(model.store.head().height)
    model.check()
    const third = new Collector(deps, settings)
    third.start()
    expect(third.status.phase).toBe('idle')
    grow(15)
    expect(third.status.phase).toBe('finding')
    await third.stop()
    expect(third.status.phase).toBe('idle')
    await first.stop()
    await second.stop()
  })
})
