/** A call that is cancelled is given up by its thread, a real one, which goes on with the next. */
import { describe, expect, it } from 'vitest'
import { systemTimers } from '../../platform/server/clock.ts'
import { startVmThread } from '../../platform/server/vmThreads.ts'
import type { ChainError } from '../../src/chain/errors.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import { devnetNode } from '../support/devnetNode.ts'

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
/** Epochs of a computation that ends in hours. */
const ENDLESS = 2 ** 40

describe('a thread of the machine', () => {
  it('gives up what is cancelled, and goes on', { timeout: 60_000 }, async () => {
    const { view, store } = devnetNode()
    let started = 0
    const startThread = () => {
      started++
      return startVmThread({ mode: 'native' })
    }
    const host = new WorkerVmHost({ view, threads: 1, timers: systemTimers, log: LOG, startThread })
    try {
      const genesis = store.genesis()
      const { root } = await host.compute(genesis, 0, [])
      for (let round = 0; round < 5; round++) {
        const cancel = new AbortController()
        const endless = host.compute(genesis, ENDLESS, [], cancel.signal)
        cancel.abort()
        await expect(endless).rejects.toMatchObject({ code: 'CANCELLED' } satisfies Partial<ChainError>)
      }
      expect(String((await host.compute(genesis, 0, [])).root)).toBe(String(root))
      expect(started).toBe(1)
    } finally {
      host.close()
    }
  })
})
