/** Thousands who listen to the same are told in turns: each hears all of it in order, and nobody else waits for them. */
import { describe, expect, it } from 'vitest'
import { DEAR_TURN_MS, MAX_UNTOLD } from '../../src/base/bounds.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import type { Walking } from '../../src/rpc/ethReader.ts'
import { Telling } from '../../src/rpc/telling.ts'

const { signal } = new AbortController()

/** A clock on which telling one takes some time, and nothing else any. */
function slowly(ms: number) {
  let nowMs = 0
  const rests: (() => void)[] = []
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const timers = {
    setTimeout: (run: () => void) => {
      rests.push(run)
      return () => undefined
    },
  }
  const queues = new CostQueues({ clock, timers })
  const call: Walking = { walk: (steps, own = signal) => queues.walk(steps, own), signal }
  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))
  return {
    call,
    settle,
    spend: () => {
      nowMs += ms
    },
    now: () => nowMs,
    /** Others have their turn. @returns whether somebody had waited for that */
    rest: async () => {
      const isOne = rests.length > 0
      for (const run of rests.splice(0)) run()
      await settle()
      return isOne
    },
  }
}

function source<T>() {
  let say: ((value: T) => void) | undefined
  return {
    listen: (tell: (value: T) => void) => {
      say = tell
      return () => (say = undefined)
    },
    isHeard: () => say !== undefined,
    say: (value: T) => say?.(value),
  }
}

describe('a telling', () => {
  it('of ten thousand takes turns of some milliseconds, and each hears all in order', async () => {
    const time = slowly(0.05)
    const from = source<number>()
    const telling = new Telling<number>({ listen: from.listen, make: (value) => value })
    const heard: number[][] = Array.from({ length: 10_000 }, () => [])
    for (const mine of heard) {
      const value = (one: number): void => {
        mine.push(one)
        time.spend()
      }
      telling.on({ value, close: () => undefined }, time.call)
    }
    let [longest, turns] = [0, 0]
    for (let before = time.now(), next = 0; ; before = time.now(), turns++) {
      // Two come while the first is told.
      if (next < 3) from.say(next++)
      longest = Math.max(longest, time.now() - before)
      if (!(await time.rest()) && next === 3) break
      longest = Math.max(longest, time.now() - before)
    }
    expect(longest).toBeLessThan(3 * DEAR_TURN_MS)
    expect(turns).toBeGreaterThan((10_000 * 3 * 0.05) / (3 * DEAR_TURN_MS))
    expect(heard.every((mine) => mine.join() === '0,1,2')).toBe(true)
  })

  it('of few is done at once; who comes later hears what comes later, who has gone hears no more', () => {
    const time = slowly(0)
    const from = source<string>()
    const telling = new Telling<string>({ listen: from.listen, make: (value) => value })
    const heard: string[] = []
    const on = (name: string): (() => void) =>
      telling.on({ value: (value) => void heard.push(`${name}${value}`), close: () => undefined }, time.call)
    expect(from.isHeard()).toBe(false)
    const stop = on('a')
    from.say('1')
    const stopLater = on('b')
    from.say('2')
    stop()
    from.say('3')
    expect(heard).toEqual(['a1', 'a2', 'b2', 'b3'])
    stopLater()
    expect(from.isHeard()).toBe(false)
  })

  it('makes once what all hear, one after the other; what cannot be made is left out', async () => {
    const from = source<number>()
    let [under, most] = [0, 0]
    const warnings: unknown[] = []
    const log = {
      debug: () => {},
      info: () => {},
      warn: (_: string, info: unknown) => warnings.push(info),
      error: () => {},
    }
    const { call, settle } = slowly(0)
    const telling = new Telling<number, string>({
      ...{ listen: from.listen, log },
      make: async (value) => {
        most = Math.max(most, ++under)
        await settle()
        under--
        if (value === 2) throw new Error('not this one')
        return value === 3 ? undefined : `made of ${value}`
      },
    })
    const heard: string[] = []
    const listen = (name: string): (() => void) =>
      telling.on({ value: (value) => void heard.push(`${name}: ${value}`), close: () => undefined }, call)
    listen('a')
    for (let i = 1; i <= 4; i++) from.say(i)
    // What came before is not told to it, though it is made later.
    listen('b')
    from.say(5)
    for (let i = 0; i < 20; i++) await settle()
    expect(heard).toEqual(['a: made of 1', 'a: made of 4', 'a: made of 5', 'b: made of 5'])
    expect([most, warnings]).toEqual([1, [{ message: 'not this one' }]])
  })

  it('gives way between the steps of one, and goes no further with one that ends meanwhile', async () => {
    const time = slowly(1)
    const from = source<number>()
    const telling = new Telling<number>({ listen: from.listen, make: (value) => value })
    const heard: string[] = []
    function* value(this: void): Generator<void, void, void> {
      for (let i = 0; i < 20; i++) {
        heard.push(`step ${i}`)
        time.spend()
        yield
      }
    }
    const stop = telling.on({ value, close: () => undefined }, time.call)
    from.say(1)
    await time.rest()
    await time.rest()
    const before = heard.length
    expect(before).toBeLessThan(20)
    stop()
    while (await time.rest());
    expect(heard.length).toBe(before)
  })

  it('so far behind, and further: who has missed something is closed, who came later is not', async () => {
    // And one more.
    for (const count of [MAX_UNTOLD - 1, MAX_UNTOLD]) {
      const from = source<number>()
      const { call, settle } = slowly(0)
      const begun = Promise.withResolvers<void>()
      const telling = new Telling<number>({
        listen: from.listen,
        make: async (value) => {
          await begun.promise
          return value
        },
      })
      const told: Record<string, (number | string)[]> = { early: [], late: [] }
      const listen = (name: string): (() => void) =>
        telling.on(
          { value: (value) => void told[name]?.push(value), close: () => void told[name]?.push('closed') },
          call,
        )
      listen('early')
      for (let i = 1; i <= count; i++) from.say(i)
      listen('late')
      from.say(0)
      begun.resolve()
      for (let i = 0; i < 100; i++) await settle()
      expect([told.early?.length, told.early?.at(-1)]).toEqual(count < MAX_UNTOLD ? [count + 1, 0] : [1, 'closed'])
      expect(told.late).toEqual([0])
    }
  })

  it('one that fails is closed, and the others are told', () => {
    const time = slowly(0)
    const from = source<number>()
    const telling = new Telling<number>({ listen: from.listen, make: (value) => value })
    const heard: string[] = []
    const failing = (): never => {
      throw new Error('no')
    }
    telling.on({ value: failing, close: () => void heard.push('closed') }, time.call)
    telling.on({ value: (value) => void heard.push(`told ${value}`), close: () => undefined }, time.call)
    from.say(1)
    from.say(2)
    expect(heard).toEqual(['closed', 'told 1', 'told 2'])
  })
})
