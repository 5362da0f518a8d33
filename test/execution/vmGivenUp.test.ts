/** What becomes of a thread whose call is cancelled while it runs. */
import { beforeEach, describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import type { ChainError } from '../../src/chain/errors.ts'
import type { InvocResult } from '../../src/chain/vm.ts'
import { CODEC_RAW } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import { UNDEF_ADDRESS } from '../../src/types/address.ts'
import type { Message } from '../../src/types/message.ts'
import { type DevnetNode, devnetNode } from '../support/devnetNode.ts'
import { LOG } from './scriptedWorld.ts'
import { type FakeThread, HandTimers, machineOf, startFakeThread } from './threadPair.ts'

let node: DevnetNode
let threads: FakeThread[]
let timers: HandTimers
/** Calls that run, by method; each ends when the test says so. */
let running: Map<bigint, () => void>
let onRunning: () => void
let ends: string[]

function numbered(method: bigint): Message {
  const amounts = { value: 0n, gasLimit: 0n, gasFeeCap: 0n, gasPremium: 0n }
  return { version: 0, to: UNDEF_ADDRESS, from: UNDEF_ADDRESS, nonce: 0n, ...amounts, method, params: utf8('') }
}

/** Waits until a call runs. */
async function isRunning(method: bigint): Promise<void> {
  while (!running.has(method)) {
    await new Promise<void>((resolve) => {
      onRunning = resolve
    })
  }
}

/** @param work - in the midst of each call */
function open(work: (host: { checkpoint(): void; put(): void }) => void): WorkerVmHost {
  const startThread = (): FakeThread => {
    const thread = startFakeThread({
      blocks: undefined,
      log: LOG,
      createHost: (store, _network, checkpoint) =>
        machineOf({
          call: async ({ method }) => {
            await new Promise<void>((resolve) => {
              running.set(method, resolve)
              onRunning()
            })
            try {
              work({ checkpoint, put: () => store.blocks.put(blockCid(utf8('made'), CODEC_RAW), utf8('made')) })
              ends.push(`${method} goes on`)
            } catch (error) {
              ends.push(`${method} ${(error as ChainError).code}`)
              throw error
            }
            return { error: String(method) } as InvocResult
          },
        }),
    })
    threads.push(thread)
    return thread
  }
  return new WorkerVmHost({ view: node.view, threads: 1, timers, log: LOG, startThread })
}

beforeEach(() => {
  node = devnetNode()
  threads = []
  timers = new HandTimers()
  running = new Map()
  onRunning = () => undefined
  ends = []
})

describe('a call that is cancelled', () => {
  for (const [where, work] of [
    ['charges gas', ({ checkpoint }: { checkpoint(): void }) => checkpoint()],
    ['makes a block', ({ put }: { put(): void }) => put()],
  ] as const) {
    it(`ends where it ${where}, and no later one does`, async () => {
      const host = open(work)
      const cancel = new AbortController()
      const first = host.call(numbered(1n), node.store.genesis(), cancel.signal)
      const second = host.call(numbered(2n), node.store.genesis())
      await isRunning(1n)
      cancel.abort()
      await expect(first).rejects.toMatchObject({ code: 'CANCELLED' })
      running.get(1n)?.()
      await isRunning(2n)
      running.get(2n)?.()
      expect((await second).error).toBe('2')
      expect(ends).toEqual(['1 CANCELLED', '2 goes on'])
      expect(threads.map(({ isClosed }) => isClosed)).toEqual([false])
    })
  }

  it('does not keep its thread from starting', async () => {
    const host = open(() => undefined)
    const cancel = new AbortController()
    const first = host.call(numbered(1n), node.store.genesis(), cancel.signal)
    const [thread] = threads as [FakeThread]
    thread.isSlowToStart = true
    cancel.abort()
    await expect(first).rejects.toMatchObject({ code: 'CANCELLED' })
    for (let i = 0; i < 6; i++) timers.pass()
    expect(thread.isClosed).toBe(false)
    thread.isSlowToStart = false
    const second = host.call(numbered(2n), node.store.genesis())
    await isRunning(2n)
    running.get(2n)?.()
    expect((await second).error).toBe('2')
    expect([...running.keys()]).toEqual([2n])
    expect(threads.length).toBe(1)
  })
})
