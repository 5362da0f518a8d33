/** Figures of calls that cost much, as an operator's Prometheus reads them: by what they cost, those under way and those refused. */
import { describe, expect, it } from 'vitest'
import { COST_LIMITS } from '../../src/base/bounds.ts'
import { Metrics } from '../../src/base/metrics.ts'
import { type NodeMetricsDeps, registerNodeMetrics } from '../../src/node/nodeMetrics.ts'
import { countsOfAll } from '../../src/rpc/callCounts.ts'
import { CostQueues, type DearClass } from '../../src/rpc/cost.ts'
import { devnetNode } from '../support/devnetNode.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { parsePrometheus } from '../support/prometheus.ts'

function open() {
  const time = new FakeTime()
  const counts = countsOfAll()
  const queues = new CostQueues({ clock: time, timers: time }, COST_LIMITS, (cost) => counts[cost])
  const metrics = new Metrics()
  const { stop } = registerNodeMetrics(metrics, {
    ...{ view: devnetNode().view, version: 'test', net: undefined, executions: undefined, counts },
    health: { epochsBehind: () => 0, ready: () => [] },
    pool: { size: 0, localSize: 0, localWaitEpochs: 0 },
    sync: () => ({ activeSyncs: [], vmApplied: 0 }),
  } as unknown as NodeMetricsDeps)
  stop()
  /** Values of one name by their labels. */
  const read = (name: string): Record<string, number> => {
    const family = parsePrometheus(metrics.text()).find((one) => one.name === name)
    return Object.fromEntries(
      (family?.metrics ?? []).map(({ labels = {}, value }) => [Object.values(labels).join(' '), Number(value)]),
    )
  }
  const ends: (() => void)[] = []
  let isOver = false
  const ask = async (cost: DearClass, name: string, hasToken: boolean): Promise<void> => {
    await queues.run(cost, { name, hasToken }, new AbortController().signal, async () => {
      if (!isOver) await new Promise<void>((resolve) => ends.push(resolve))
    })
  }
  /** Those that run end, and those that wait as soon as they begin. */
  const end = (): void => {
    isOver = true
    for (const one of ends) one()
  }
  return { read, ask, end }
}

const NONE = { scan: 0, execute: 0, stream: 0, sign: 0, wait: 0 }

describe('figures of calls', () => {
  it('tell by what they cost how many run, wait and were refused', async () => {
    const { read, ask, end } = open()
    const kinds = Object.keys(NONE).flatMap((cost) => [`${cost} running`, `${cost} waiting`])
    const idle = Object.fromEntries(kinds.map((kind) => [kind, 0]))
    expect(read('petrel_rpc_calls')).toEqual(idle)
    expect(read('petrel_rpc_refused_total')).toEqual(NONE)
    const { runningOfCaller, perAddress } = COST_LIMITS.scan
    const beyond = 7
    const calls = Array.from({ length: perAddress + beyond }, () => ask('scan', '192.0.2.7', false))
    calls.push(ask('sign', 'a token', true), ask('wait', '192.0.2.7', false))
    const ended = Promise.allSettled(calls)
    expect(read('petrel_rpc_calls')).toEqual({
      ...idle,
      'scan running': runningOfCaller,
      'scan waiting': perAddress - runningOfCaller,
      'sign running': 1,
      'wait running': 1,
    })
    expect(read('petrel_rpc_refused_total')).toEqual({ ...NONE, scan: beyond })
    end()
    expect((await ended).filter(({ status }) => status === 'rejected')).toHaveLength(beyond)
    expect(read('petrel_rpc_calls')).toEqual(idle)
    expect(read('petrel_rpc_refused_total')).toEqual({ ...NONE, scan: beyond })
  })
})
