/** The bounds of each kind of dear calls, as a node has them: at each, and one above. */
import { describe, expect, test } from 'vitest'
import { COST_LIMITS } from '../../src/base/bounds.ts'
import { type CallerName, type CostLimit, CostQueues, type DearClass } from '../../src/rpc/cost.ts'
import { FakeTime } from '../support/fakeTime.ts'

const DAY_MS = 86_400_000
const kinds = Object.entries(COST_LIMITS) as [DearClass, CostLimit][]
const token = (name: number): CallerName => ({ name: `token ${name}`, hasToken: true })
const address = (name: number): CallerName => ({ name: `address ${name}`, hasToken: false })

/** Calls of one kind that never end. */
function open(kind: DearClass) {
  const time = new FakeTime()
  const queues = new CostQueues({ clock: time, timers: time })
  const never = new Promise<void>(() => undefined)
  const ask = (caller: CallerName): 'taken' | 'LIMIT_EXCEEDED' => {
    try {
      void queues.run(kind, caller, new AbortController().signal, () => never)
      return 'taken'
    } catch (error) {
      return (error as { code: 'LIMIT_EXCEEDED' }).code
    }
  }
  /** @returns how many are taken of `count` calls, each of the caller that `of` names */
  const fill = (count: number, of: (i: number) => CallerName): number => {
    let taken = 0
    for (let i = 0; i < count; i++) if (ask(of(i)) === 'taken') taken++
    return taken
  }
  return { time, queues, ask, fill, load: () => queues.load(kind) }
}

describe.each(kinds)('%s', (kind, limit) => {
  const { running, runningOfCaller, runningWithoutToken, waiting, perToken, perAddress, deadlineMs } = limit

  test.each([
    ['an address without a token', perAddress, address],
    ['a token', perToken, token],
  ] as const)(
    '%s has as many calls as its bound, and one more is refused; another has its own',
    (_who, most, named) => {
      const { ask, fill } = open(kind)
      expect(fill(most, () => named(1))).toBe(most)
      expect(ask(named(1))).toBe('LIMIT_EXCEEDED')
      expect(ask(named(2))).toBe('taken')
    },
  )

  test('as many run as the bound; as many wait, and one more is refused', () => {
    const { ask, fill, load } = open(kind)
    expect(fill(running, token)).toBe(running)
    expect(load()).toEqual({ running, waiting: 0 })
    expect(fill(waiting, (i) => token(running + i))).toBe(waiting)
    expect(load()).toEqual({ running, waiting })
    expect(ask(token(running + waiting))).toBe('LIMIT_EXCEEDED')
  })

  test('of one caller as many run as its bound, and not one more', () => {
    const { fill, load } = open(kind)
    fill(runningOfCaller, () => token(1))
    expect(load()).toEqual({ running: runningOfCaller, waiting: 0 })
    fill(1, () => token(1))
    expect(load().running).toBe(runningOfCaller)
    fill(1, () => token(2))
    expect(load().running).toBe(Math.min(running, runningOfCaller + 1))
  })

  test('of all without a token as many run as their bound, and not one more', () => {
    const { fill, load } = open(kind)
    fill(runningWithoutToken, address)
    expect(load()).toEqual({ running: runningWithoutToken, waiting: 0 })
    fill(1, () => address(runningWithoutToken))
    expect(load().running).toBe(runningWithoutToken)
    fill(1, token)
    expect(load().running).toBe(Math.min(running, runningWithoutToken + 1))
  })

  test('is told to stop at its deadline, and not a millisecond before; without one never', async () => {
    const { time, queues } = open(kind)
    let signal: AbortSignal | undefined
    const call = queues.run(kind, token(1), new AbortController().signal, (ended) => {
      signal = ended
      return new Promise<void>(() => undefined)
    })
    let code: string | undefined
    call.catch((error: { code: string }) => (code = error.code))
    await time.pass(deadlineMs > 0 ? deadlineMs - 1 : DAY_MS)
    expect([signal?.aborted, code]).toEqual([false, undefined])
    if (deadlineMs === 0) return
    await time.pass(1)
    await time.pass(0)
    expect([signal?.aborted, code]).toEqual([true, 'TIMED_OUT'])
  })
})
