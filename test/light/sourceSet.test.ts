/** What is known of sources that come and go. */
import { expect, test } from 'vitest'
import type { LightSource } from '../../src/light/lightSource.ts'
import {
  FAILURES_TO_REST,
  HEDGE_MS,
  MAX_DROPPED_PEERS,
  MAX_REST_MS,
  REST_MS,
  SOURCE_ANSWER_MS,
} from '../../src/light/limits.ts'
import { SourceSet } from '../../src/light/sourceSet.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'

const peer = (name: string): LightSource => ({ name, kind: 'peer', bytesReceived: 0 })

/** A set of one endpoint, and the peers that there are. */
function setOf(): { set: SourceSet; time: VirtualTime; there: LightSource[] } {
  const time = new VirtualTime()
  const there: LightSource[] = []
  const endpoint: LightSource = { name: 'endpoint', kind: 'rpc', bytesReceived: 0 }
  const set = new SourceSet({ sources: () => [endpoint, ...there], clock: time, timers: time, log: silentLog })
  return { set, time, there }
}

const statesOf = (set: SourceSet): string[] => set.states().map(({ name, state }) => `${name} ${state}`)

test('peers that came and went are forgotten, neither kept nor told', () => {
  const { set, there } = setOf()
  for (let i = 0; i < 1000; i++) {
    there.splice(0, 1, peer(`peer ${i}`))
    set.inOrder()
  }
  expect(statesOf(set)).toEqual(['endpoint usable', 'peer 999 usable'])
  there.length = 0
  expect(statesOf(set)).toEqual(['endpoint usable'])
})

test('who lied is remembered when it comes again', () => {
  const { set, there } = setOf()
  const liar = peer('liar')
  there.push(liar)
  set.drop(liar, 'a false block')
  there.length = 0
  expect(statesOf(set)).toEqual(['liar dropped', 'endpoint usable'])
  there.push(liar)
  expect(set.inOrder().map(({ name }) => name)).toEqual(['endpoint'])
})

test('who rests does so through leaving and coming again, and is forgotten after that', async () => {
  const { set, time, there } = setOf()
  const slow = peer('slow')
  there.push(slow)
  for (let i = 1; i < FAILURES_TO_REST; i++) set.blame(slow, 'no answer in time')
  expect(set.rests(slow)).toBe(false)
  set.blame(slow, 'no answer in time')
  expect(set.rests(slow)).toBe(true)
  there.length = 0
  set.inOrder()
  there.push(slow)
  expect(set.inOrder().map(({ name }) => name)).toEqual(['endpoint', 'slow'])
  there.length = 0
  await time.advance(REST_MS - 1)
  expect(statesOf(set)).toContain('slow resting')
  await time.advance(1)
  expect(statesOf(set)).toEqual(['endpoint usable'])
})

test('of liars that came under ever new names so many are remembered', () => {
  const { set, there } = setOf()
  for (let i = 0; i <= MAX_DROPPED_PEERS; i++) {
    there.splice(0, 1, peer(`liar ${i}`))
    set.drop(there[0] as LightSource, 'a false block')
    set.inOrder()
  }
  there.length = 0
  const names = set.states().map(({ name }) => name)
  expect(names.length).toBe(MAX_DROPPED_PEERS + 1)
  expect(names).not.toContain('liar 0')
  expect(names).toContain(`liar ${MAX_DROPPED_PEERS}`)
  there.push(peer(`liar ${MAX_DROPPED_PEERS}`))
  expect(set.inOrder().map(({ name }) => name)).toEqual(['endpoint'])
})

test('who fails for ever rests for no longer than the bound', async () => {
  const { set, time, there } = setOf()
  const slow = peer('slow')
  there.push(slow)
  for (let i = 0; i < 100; i++) set.blame(slow, 'no answer in time')
  await time.advance(MAX_REST_MS - 1)
  expect(set.rests(slow)).toBe(true)
  await time.advance(1)
  expect(set.rests(slow)).toBe(false)
})

test('the next source is asked as soon as the first takes its time, and nobody for longer than the bound', async () => {
  const { set, time, there } = setOf()
  there.push(peer('other'))
  const asked: string[] = []
  const answer = set.first(({ name }) => () => {
    asked.push(name)
    return new Promise<never>(() => undefined)
  })
  answer.catch(() => undefined)
  await time.advance(HEDGE_MS - 1)
  expect(asked).toEqual(['endpoint'])
  await time.advance(1)
  expect(asked).toEqual(['endpoint', 'other'])
  let isOver = false
  answer.finally(() => (isOver = true)).catch(() => undefined)
  await time.advance(SOURCE_ANSWER_MS - 1)
  expect(isOver).toBe(false)
  await time.advance(1)
  await expect(answer).rejects.toMatchObject({ code: 'NO_ANSWER' })
})

test('one that answers is found among many that are silent, also one that came later', async () => {
  const { set, time, there } = setOf()
  for (let i = 0; i < 60; i++) there.push(peer(`silent ${i}`))
  const ask = (): Promise<string> =>
    set.first(
      ({ name }) =>
        () =>
          name === 'good' ? Promise.resolve(name) : new Promise<never>(() => undefined),
    )
  const late = ask()
  await time.advance(10 * HEDGE_MS)
  there.push(peer('good'))
  await time.advance(HEDGE_MS)
  await expect(late).resolves.toBe('good')
  // Twice as many each time: 1, 2, 4, ... 64.
  const began = time.monotonicMs()
  expect(await time.until(ask())).toBe('good')
  expect(time.monotonicMs() - began).toBeLessThanOrEqual(6 * HEDGE_MS)
})

test('when one has answered nobody else is asked', async () => {
  const { set, time, there } = setOf()
  for (let i = 0; i < 8; i++) there.push(peer(`peer ${i}`))
  const asked: string[] = []
  const answer = set.first(({ name }) => async (signal) => {
    asked.push(name)
    if (asked.length === 4) return name
    return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  })
  await time.advance(2 * HEDGE_MS)
  await expect(answer).resolves.toBe('peer 2')
  await time.advance(10 * HEDGE_MS)
  expect(asked.length).toBe(4)
})
