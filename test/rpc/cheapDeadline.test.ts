/** The deadline of cheap calls: of those that wait for something, and of nobody else; what rightly takes longer says so in its row. */
import { describe, expect, test } from 'vitest'
import { CHEAP_DEADLINE_MS } from '../../src/base/bounds.ts'
import { json } from '../../src/codec/description.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { type Caller, RpcEngine } from '../../src/rpc/engine.ts'
import { type CallContext, type MethodFacts, method } from '../../src/rpc/method.ts'
import { devnetMine } from '../../src/rpc/signatures/devnet.ts'
import { marketReleaseFunds, marketReserveFunds, marketWithdraw } from '../../src/rpc/signatures/market.ts'
import { mpoolBatchPushMessage, mpoolPushMessage } from '../../src/rpc/signatures/mpool.ts'
import { createBackup } from '../../src/rpc/signatures/node.ts'
import {
  paychCollect,
  paychFund,
  paychGet,
  paychGetV0,
  paychGetWaitReady,
  paychNewPayment,
  paychSettle,
  paychVoucherCreate,
  paychVoucherSubmit,
} from '../../src/rpc/signatures/paych.ts'
import { syncCheckpoint } from '../../src/rpc/signatures/sync.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { JSON_CONTEXT, turn } from './forkingChain.ts'
import { silentLog } from './stubTable.ts'

/** Counts the timers that run. */
class RunningTimers extends FakeTime {
  count = 0

  override setTimeout(run: () => void, ms: number): () => void {
    this.count++
    const stop = super.setTimeout(run, ms)
    return () => {
      this.count--
      stop()
    }
  }
}

/** A caller's signal, and how many listen to it. */
function listened() {
  const controller = new AbortController()
  const { signal } = controller
  const heard = { count: 0, controller, signal }
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    heard.count++
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    heard.count--
    remove(...args)
  }
  return heard
}

/** A node with one method, called once. */
function call(handler: (call: CallContext, time: FakeTime) => unknown, facts: Partial<MethodFacts> = {}) {
  const time = new RunningTimers()
  const queues = new CostQueues({ clock: time, timers: time })
  const row = method({
    name: 'M',
    perm: 'read',
    params: [],
    result: json,
    handler: (own) => handler(own, time) as never,
    ...facts,
  })
  const engine = new RpcEngine({ table: createMethodTable([row]), json: JSON_CONTEXT, log: silentLog, queues })
  const client = listened()
  const caller: Caller = {
    ...{ version: 'v1', permissions: new Set(['read']), signal: client.signal, ended: client.signal },
    ...{ notify: undefined, name: { name: 'a', hasToken: false } },
  }
  const outcome = engine.dispatch({ id: 1, method: 'Filecoin.M', params: [] }, caller, undefined)
  const told: unknown[] = []
  void Promise.resolve(outcome).then((one) => told.push(JSON.parse((one as { text: string }).text)))
  return { time, client, outcome, told }
}

const never = new Promise<never>(() => undefined)

describe('a cheap call', () => {
  test('that waits is ended at its deadline, and not a millisecond before', async () => {
    let signal: AbortSignal | undefined
    const { time, client, told } = call((own) => {
      signal = own.signal
      return never
    })
    await time.pass(CHEAP_DEADLINE_MS - 1)
    expect([told, signal?.aborted]).toEqual([[], false])
    await time.pass(1)
    await time.pass(0)
    expect(told).toMatchObject([{ error: { code: -32016, message: 'not answered within 120 s' } }])
    expect([signal?.aborted, client.count]).toEqual([true, 0])
  })

  test('its walk ends there, too, without a signal', async () => {
    let steps = 0
    const { time, told } = call(({ walk }, clock) =>
      walk(
        (function* () {
          for (;;) {
            if (++steps % 4 === 0) clock.now += 100
            yield
          }
        })(),
      ),
    )
    await time.pass(CHEAP_DEADLINE_MS)
    expect(told).toMatchObject([{ error: { code: -32016 } }])
    for (let i = 0; i < 5; i++) await turn()
    const before = steps
    for (let i = 0; i < 5; i++) await turn()
    expect(steps).toBe(before)
  })

  test('hears when its caller goes', () => {
    let signal: AbortSignal | undefined
    const { client } = call((own) => {
      signal = own.signal
      return never
    })
    client.controller.abort()
    expect(signal?.aborted).toBe(true)
  })

  test('that answers at once, or asks for no signal, has neither timer nor listener', async () => {
    const atOnce = call(() => 1)
    expect([atOnce.outcome instanceof Promise, atOnce.time.count, atOnce.client.count]).toEqual([false, 0, 0])
    const listening = call(({ signal }) => (signal.aborted ? 0 : 1))
    expect([listening.outcome instanceof Promise, listening.time.count, listening.client.count]).toEqual([false, 0, 0])
    const failing = call(({ signal }) => {
      throw new Error(String(signal.aborted))
    })
    expect([failing.time.count, failing.client.count]).toEqual([0, 0])
    const later = call(async () => 1)
    expect([later.time.count, later.client.count]).toEqual([1, 0])
    await later.outcome
    expect(later.time.count).toBe(0)
    const refused = call(async ({ signal }) => {
      throw new Error(String(signal.aborted))
    })
    await refused.outcome
    expect([refused.time.count, refused.client.count]).toEqual([0, 0])
  })

  test('whose row says why has none', async () => {
    const { time, told } = call(() => never, { noDeadline: 'asks a person' })
    await time.pass(10 * CHEAP_DEADLINE_MS)
    expect([told, time.count]).toEqual([[], 0])
  })
})

test('what executes in a call without a place has one; what has a place needs none', async () => {
  const has: Record<string, boolean> = {}
  for (const cost of ['cheap', 'wait', 'scan', 'execute', 'stream', 'sign'] as const) {
    const says = ({ execute }: CallContext): void => {
      has[cost] = execute !== undefined
    }
    await call(says, { cost }).outcome
  }
  expect(has).toEqual({ cheap: true, wait: true, scan: false, execute: false, stream: false, sign: false })
})

test('what waits for the chain is a wait; what asks a person, or does as much as it is told to, has no deadline', () => {
  const waits = [
    ...[paychGet, paychGetV0, paychFund, paychNewPayment, paychGetWaitReady],
    ...[marketReserveFunds, marketReleaseFunds, marketWithdraw],
  ]
  expect(waits.filter(({ cost }) => cost !== 'wait')).toEqual([])
  const long = [
    ...[mpoolPushMessage, mpoolBatchPushMessage, paychSettle, paychCollect, paychVoucherCreate, paychVoucherSubmit],
    ...[createBackup, devnetMine, syncCheckpoint],
  ]
  expect(long.filter(({ noDeadline }) => noDeadline === undefined)).toEqual([])
})
