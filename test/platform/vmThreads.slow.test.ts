/** The machine in real threads: depth, cancellation, a node that answers meanwhile. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { systemTimers } from '../../platform/server/clock.ts'
import { startVmThread } from '../../platform/server/vmThreads.ts'
import { concatBytes, fromUtf8 } from '../../src/base/bytes.ts'
import type { Timers } from '../../src/base/ports.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { URGENCY } from '../../src/chain/urgency.ts'
import { isPrinted, urgentVm } from '../../src/chain/vm.ts'
import { bytes } from '../../src/codec/description.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { WorkerVmHost } from '../../src/execution/workerVmHost.ts'
import { VmError } from '../../src/fvm/errors.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { computeOutputText, printedOutput } from '../../src/rpc/types/execution.ts'
import type { Message } from '../../src/types/message.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { missingActors } from '../fvm/support/actorCode.ts'
import { denoPath } from '../support/deno.ts'
import { missingShared, ROOT, readSharedText } from '../support/shared.ts'
import {
  ASKING_ACTOR,
  callOf,
  LOOPING_ACTOR,
  nestedCalls,
  openRecordedMachine,
  RECURSING_ACTOR,
  type RecordedMachine,
  serveMachine,
} from './recordedMachine.ts'

const CHAIN = 'nv28-depth'
const NETWORK = `data/golden/${CHAIN}/network.json`
const missing = missingShared(NETWORK) ?? missingActors(parseNetwork(parseJson(readSharedText(NETWORK))))

/** On a busy machine a thread that gives up by itself may be late: it is not ended here. */
const PATIENT: Timers = { setTimeout: () => () => undefined }

async function using(
  storage: 'memory' | 'lmdb',
  threads: number,
  run: (machine: RecordedMachine) => Promise<void>,
  timers: Timers = systemTimers,
): Promise<void> {
  const machine = openRecordedMachine(CHAIN, storage, threads, timers)
  try {
    await run(machine)
  } finally {
    await machine.close()
  }
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'nothing',
    (error: unknown) => error,
  )
}

describe.skipIf(missing !== undefined)('threads of the machine', () => {
  for (const storage of ['memory', 'lmdb'] as const) {
    it(`execute calls 294 deep as recorded (${storage})`, { timeout: 300_000 }, () =>
      using(storage, 1, async ({ golden, host }) => {
        let deepest = 0
        for (const [i, tipset] of golden.tipsets.entries()) {
          const next = golden.tipsets[i + 1]
          if (next === undefined) break
          const { parentStateRoot, parentMessageReceipts } = firstBlock(next)
          const { stateRoot, receiptsRoot } = await host.executeTipset(tipset)
          expect([tipset.height, String(stateRoot), String(receiptsRoot)]).toEqual([
            tipset.height,
            String(parentStateRoot),
            String(parentMessageReceipts),
          ])
          const { trace } = await host.compute(tipset, tipset.height, [])
          for (const one of trace) deepest = Math.max(deepest, nestedCalls(one.executionTrace))
        }
        // README of the recorded chains: "calls nested up to 294 deep".
        expect(deepest).toBeGreaterThanOrEqual(294)
      }),
    )
  }

  it('print what they computed as the node does, of messages as they were given', { timeout: 120_000 }, () =>
    using('lmdb', 1, async ({ golden, host, view }) => {
      const json = { addressPrefix: view.network.addressPrefix }
      const text = async (tipset: Tipset, messages: readonly Message[], mustPrint: boolean): Promise<string> => {
        const output = await host.computeForText(tipset, tipset.height, messages)
        expect(isPrinted(output)).toBe(mustPrint)
        return isPrinted(output) ? fromUtf8(concatBytes(...printedOutput(output))) : computeOutputText(output, json)
      }
      const values = async (tipset: Tipset, messages: readonly Message[]): Promise<string> =>
        computeOutputText(await host.compute(tipset, tipset.height, messages), json)
      for (const tipset of golden.tipsets) expect(await text(tipset, [], true)).toBe(await values(tipset, []))
      const last = golden.tipsets.at(-1) as Tipset
      for (const [params, mustPrint] of [
        [null, true],
        ['AQ==', true],
        // Empty and there.
        ['', true],
      ] as const) {
        const given = { ...callOf(ASKING_ACTOR), gasLimit: 10_000_000n, params: bytes.fromJson(params, json) }
        const printed = await text(last, [given], mustPrint)
        expect(printed).toBe(await values(last, [given]))
        expect(printed).toContain(`"Params":${JSON.stringify(params)}`)
      }
    }),
  )

  it('answer further messages on what a tipset left as if all had been executed', { timeout: 120_000 }, () =>
    using('lmdb', 1, async ({ golden, host, view }) => {
      const json = { addressPrefix: view.network.addressPrefix }
      const caching = new CachingVmHost(view.store, host)
      let executed = 0
      const full = golden.tipsets.slice(0, -1).filter((tipset) => view.tipsetMessages(tipset).length > 0)
      for (const tipset of full.slice(0, 8)) {
        // Each sender's last again, after itself.
        const bySender = new Map(view.tipsetMessages(tipset).map(({ message }) => [message.from.key, message]))
        const given = [...bySender.values()].map((message) => ({ ...message, nonce: message.nonce + 1n }))
        for (const [height, messages] of [
          [tipset.height, given],
          [tipset.height, given.slice(1)],
          [tipset.height + 2, []],
          [tipset.height + 2, given],
        ] as const) {
          const whole = await host.compute(tipset, height, messages)
          const text = computeOutputText(whole, json)
          const output = await caching.computeForText(tipset, height, messages)
          const answered = isPrinted(output)
            ? fromUtf8(concatBytes(...printedOutput(output)))
            : computeOutputText(output, json)
          expect(answered === text, String(tipset.height)).toBe(true)
          const values = await new CachingVmHost(view.store, host).compute(tipset, height, messages)
          expect(computeOutputText(values, json) === text, String(tipset.height)).toBe(true)
          executed += whole.trace
            .slice(whole.trace.length - messages.length)
            .filter(({ msgRct }) => msgRct.gasUsed > 0n).length
        }
      }
      expect(executed).toBeGreaterThan(5)
    }),
  )

  it('hold 1,024 nested calls in Node', { timeout: 120_000 }, () =>
    using('memory', 1, async ({ host, withActors }) => {
      const { executionTrace, msgRct } = await host.call(callOf(RECURSING_ACTOR), withActors)
      expect(msgRct.exitCode).toBe(0)
      // ref-fvm fvm/src/machine/mod.rs `max_call_depth`
      expect(nestedCalls(executionTrace)).toBe(1024)
    }),
  )

  it('hold 1,024 nested calls in Deno', { timeout: 120_000 }, () => {
    const script = fileURLToPath(new URL('./threadDepth.ts', import.meta.url))
    const args = ['run', '-A', '--v8-flags=--stack-size=7000', script]
    const { stdout, stderr } = spawnSync(denoPath(), args, { cwd: ROOT, encoding: 'utf8' })
    expect(`${stdout}${stderr}`.trim().split('\n').at(-1)).toBe('1024')
  })

  it('leave the node free to answer, and end when the call is cancelled', { timeout: 120_000 }, () =>
    using('lmdb', 1, async ({ host, view, golden, withActors }) => {
      // Three times: an ended thread must not leave the store locked.
      for (let round = 0; round < 3; round++) {
        const cancel = new AbortController()
        const endless = failure(host.call(callOf(LOOPING_ACTOR), withActors, cancel.signal))
        const waiting = urgentVm(host, URGENCY.chain).executeTipset(golden.tipsets[2] as Tipset)
        const first = await Promise.race([endless, new Promise((resolve) => setImmediate(resolve, 'free'))])
        expect(first).toBe('free')
        expect(view.store.head().height).toBe(golden.chain.head().height)
        // What the chain itself waits for gets a thread of its own, and is done while the other runs on.
        const { parentStateRoot } = firstBlock(golden.tipsets[3] as Tipset)
        expect(String((await waiting).stateRoot)).toBe(String(parentStateRoot))
        expect(host.load).toEqual({ waiting: 0, running: 1, threads: 2 })
        cancel.abort()
        const error = await endless
        expect(error).toBeInstanceOf(ChainError)
        expect((error as ChainError).code).toBe('CANCELLED')
        // Until the cancelled one is ended its place is taken.
        await vi.waitFor(() => expect(host.load.running).toBe(0), { timeout: 60_000, interval: 10 })
      }
    }),
  )

  it('go on after a cancelled call that makes syscalls', { timeout: 120_000 }, () =>
    using(
      'lmdb',
      1,
      async ({ host, withActors, threadsStarted }) => {
        await host.call(callOf(RECURSING_ACTOR), withActors)
        const started = threadsStarted()
        for (let round = 0; round < 20; round++) {
          const cancel = new AbortController()
          const endless = failure(host.call(callOf(ASKING_ACTOR), withActors, cancel.signal))
          // In the midst of it, or before it began: both must end.
          await new Promise((resolve) => setTimeout(resolve, 3 * round))
          cancel.abort()
          expect(((await endless) as ChainError).code).toBe('CANCELLED')
        }
        expect((await host.call(callOf(RECURSING_ACTOR), withActors)).msgRct.exitCode).toBe(0)
        expect(threadsStarted()).toBe(started)
      },
      PATIENT,
    ),
  )

  it('let the server answer, and end with the connection that asked', { timeout: 120_000 }, () =>
    using('memory', 1, async (machine) => {
      const server = await serveMachine(machine)
      const ask = (method: string, params: string, signal?: AbortSignal): Promise<Response> =>
        fetch(server.url, {
          method: 'POST',
          body: `{"jsonrpc":"2.0","id":1,"method":"Filecoin.${method}","params":${params}}`,
          ...(signal === undefined ? {} : { signal }),
        })
      try {
        const message = `{"From":"t00","To":"t0${LOOPING_ACTOR}","Value":"0","Method":7}`
        const key = JSON.stringify(machine.withActors.key.map((cid) => ({ '/': cid.toString() })))
        const leave = new AbortController()
        const endless = failure(ask('StateCall', `[${message},${key}]`, leave.signal))
        // The call has arrived when it is in a thread; every turn of this loop is an answer of the busy node.
        let answers = 0
        for (; machine.host.load.running === 0 || answers < 20; answers++) {
          const head = (await (await ask('ChainHead', '[]')).json()) as { result: { Height: number } }
          expect(head.result.Height).toBe(machine.view.store.head().height)
        }
        expect(machine.host.load.running).toBe(1)
        leave.abort()
        expect(((await endless) as Error).name).toBe('AbortError')
        while (machine.host.load.running > 0) await ask('ChainHead', '[]')
        // The thread ended at the call's next charge of gas and is kept, or did not in time and was ended.
        expect(machine.host.load).toMatchObject({ waiting: 0, running: 0 })
        const replayed = await (await ask('StateCompute', '[5,null,null]')).json()
        expect(replayed).toMatchObject({ result: { Root: expect.anything() } })
      } finally {
        await server.close()
      }
    }),
  )

  it('that cannot start fail their call', { timeout: 60_000 }, () =>
    using('memory', 1, async ({ view, golden }) => {
      const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
      const startThread = () => startVmThread({ mode: 'wasm', archive: '/nowhere/chain.car' })
      const host = new WorkerVmHost({ view, threads: 1, timers: systemTimers, log, startThread })
      const error = await failure(host.executeTipset(golden.tipsets[1] as Tipset))
      expect(error).toBeInstanceOf(VmError)
      expect((error as VmError).message).toContain('/nowhere/chain.car')
      expect(host.load.threads).toBe(0)
    }),
  )
})
