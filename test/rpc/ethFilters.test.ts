/** Filters are bounded in number, age and results (limits and texts: lotus node/config/def.go, chain/events/filter/store.go). */
import { describe, expect, it } from 'vitest'
import { MAX_FILTER_BYTES, WANTED_LIMITS } from '../../src/base/bounds.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { EthFilters } from '../../src/rpc/ethFilters.ts'
import { FILTER_AGE_MS, MAX_FILTER_RESULTS, MAX_FILTERS } from '../../src/rpc/limits.ts'

function filters(): { filters: EthFilters; pass: (ms: number) => void } {
  let now = 1_700_000_000_000
  let number = 0
  return {
    filters: new EthFilters({
      clock: { nowMs: () => now, monotonicMs: () => now },
      random: { fill: (out) => out.set([number >> 8, number++ & 255]) },
    }),
    pass: (ms) => {
      now += ms
    },
  }
}

describe('filters', () => {
  it('tell each result once, in order', () => {
    const { filters: all } = filters()
    let collect: (result: string) => void = () => undefined
    const id = all.add('logs', undefined, (given) => {
      given('old')
      collect = given
      return () => undefined
    })
    collect('new')
    expect(all.take(id)).toEqual(['old', 'new'])
    expect(all.take(id)).toEqual([])
  })

  it('are at most so many', () => {
    const { filters: all } = filters()
    for (let i = 0; i < MAX_FILTERS; i++) all.add('blocks', undefined, () => () => undefined)
    expect(() => all.add('blocks', undefined, () => () => undefined)).toThrow('maximum number of filters registered')
  })

  it('of strangers give way to who has a token, and to strangers who have fewer', () => {
    const { filters: all, pass } = filters()
    const add = (name: string, hasToken = false): Uint8Array => {
      pass(1)
      return all.add('blocks', { name, hasToken }, () => () => undefined)
    }
    const greedy = Array.from({ length: MAX_FILTERS }, () => add('greedy')) as [Uint8Array, ...Uint8Array[]]
    // Its own do not go for another of its own.
    expect(() => add('greedy')).toThrow('maximum number of filters registered')
    const other = add('other')
    expect(() => all.take(greedy[0])).toThrow('filter not found')
    const mine = add('mine', true)
    expect(() => all.take(greedy[1] as Uint8Array)).toThrow('filter not found')
    for (const kept of [other, mine, greedy[2] as Uint8Array]) expect(all.take(kept)).toEqual([])
    // Up to as many as the greediest keeps.
    for (let i = 1; i < MAX_FILTERS / 2 - 1; i++) add('other')
    expect(() => add('other')).toThrow('maximum number of filters registered')
    for (let i = 1; i < MAX_FILTERS; i++) add('mine', true)
    expect(() => add('mine', true)).toThrow('maximum number of filters registered')
    expect(all.take(mine)).toEqual([])
  })

  it('end after an hour without a question, and stop collecting', () => {
    const { filters: all, pass } = filters()
    let stopped = 0
    const add = (): Uint8Array => all.add('blocks', undefined, () => () => stopped++)
    const [asked, forgotten] = [add(), add()]
    pass(FILTER_AGE_MS - 1)
    expect(all.take(asked)).toEqual([])
    pass(2)
    expect(() => all.take(forgotten)).toThrow('filter not found')
    expect(stopped).toBe(1)
    expect(all.take(asked)).toEqual([])
  })

  it('keep the newest 10,000 results', () => {
    const { filters: all } = filters()
    const id = all.add('transactions', undefined, (collect) => {
      for (let i = 0; i < MAX_FILTER_RESULTS + 5; i++) collect(i)
      return () => undefined
    })
    const results = all.take(id)
    expect([results.length, results[0], results.at(-1)]).toEqual([10_000, 5, 10_004])
  })

  it('hold so many bytes together, and it is the fullest that loses its oldest', () => {
    const { filters: all } = filters()
    const feeds: ((result: Json) => void)[] = []
    const feed = (collect: (result: Json) => void): (() => void) => {
      feeds.push(collect)
      return () => undefined
    }
    const [small, large] = [all.add('logs', undefined, feed), all.add('logs', undefined, feed)]
    feeds[0]?.('kept')
    const result = 'x'.repeat(MAX_FILTER_BYTES / 16)
    for (let i = 0; i < 40; i++) feeds[1]?.(`${i} ${result}`)
    expect(all.take(small)).toEqual(['kept'])
    const left = all.take(large) as string[]
    expect(left.length).toBe(15)
    expect(left.map((one) => one.split(' ')[0])).toEqual(Array.from({ length: 15 }, (_, i) => `${25 + i}`))
    for (let i = 0; i < 15; i++) feeds[0]?.(result.slice(10))
    expect(all.take(small).length).toBe(15)
  })

  it('want so many bytes of an address, and give them back when they end, each way that they do', () => {
    const { filters: all, pass } = filters()
    const { perAddress } = WANTED_LIMITS
    const owner = { name: 'address 192.0.2.1', hasToken: false }
    const add = (bytes: number): Uint8Array => all.add('logs', owner, () => () => undefined, bytes)
    const refused = expect.objectContaining({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining(`those of an address without a token may take ${perAddress} bytes`),
    })
    const half = add(perAddress / 2)
    const other = add(perAddress / 2)
    expect(() => add(1)).toThrow(refused)
    // Who wants all of something else takes nothing of it.
    add(0)
    all.remove(half)
    all.remove(half)
    add(perAddress / 2)
    expect(() => add(1)).toThrow(refused)
    pass(FILTER_AGE_MS - 1)
    all.take(other)
    pass(2)
    add(perAddress / 2)
    expect(() => add(1)).toThrow(refused)
    expect(() =>
      all.add('logs', { name: 'token', hasToken: true }, () => () => undefined, perAddress + 1),
    ).not.toThrow()
  })

  it('that are refused for what they want take nobody’s place; one that gives way leaves its room', () => {
    const { filters: all, pass } = filters()
    const { all: room, withoutToken, perToken, perAddress } = WANTED_LIMITS
    const add = (name: string, hasToken: boolean, bytes: number): Uint8Array => {
      pass(1)
      return all.add('logs', { name, hasToken }, () => () => undefined, bytes)
    }
    const strangers = withoutToken / perAddress
    const first = add('stranger 0', false, perAddress)
    for (let i = 1; i < strangers; i++) add(`stranger ${i}`, false, perAddress)
    for (let i = strangers; i < MAX_FILTERS; i++) add('stranger 0', false, 0)
    const mine = room - withoutToken + 1
    expect(mine).toBeLessThanOrEqual(perToken)
    expect(() => add('mine', true, mine)).toThrow(`those of all callers may take ${room} bytes`)
    expect(all.take(first)).toEqual([])
    // The stalest of the stranger that has most.
    pass(1)
    add('mine', true, mine - 1)
    add('mine', true, 0)
    expect(() => add('mine', true, 1)).toThrow(`those of all callers may take ${room} bytes`)
  })

  it('take nothing more when they have ended, and what others collected stays', () => {
    const { filters: all } = filters()
    const feeds: ((result: Json) => void)[] = []
    const add = (): Uint8Array =>
      all.add('logs', undefined, (collect) => {
        feeds.push(collect)
        return () => undefined
      })
    const [kept, ended] = [add(), add()]
    feeds[0]?.('kept')
    all.remove(ended)
    const large = 'x'.repeat(MAX_FILTER_BYTES / 2)
    for (let i = 0; i < 4; i++) feeds[1]?.(large)
    expect(all.take(kept)).toEqual(['kept'])
    feeds[0]?.(large)
    expect(all.take(kept)).toEqual([large])
  })

  it('say what they are not', () => {
    const { filters: all } = filters()
    const id = all.add('blocks', undefined, () => () => undefined)
    expect(() => all.take(id, 'logs')).toThrow('wrong filter type')
    expect([all.remove(id), all.remove(id)]).toEqual([true, false])
    expect(() => all.take(id)).toThrow('filter not found')
  })
})
