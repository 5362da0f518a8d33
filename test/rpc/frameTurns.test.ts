/** Frames that come together are taken in turns: a stranger does not wait for all of them. */
import { expect, it } from 'vitest'
import { DEAR_TURN_MS, HOLD_UNREAD_BYTES } from '../../src/base/bounds.ts'
import { json } from '../../src/codec/description.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { method, param } from '../../src/rpc/method.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { silentLog } from './stubTable.ts'

function node(textLength = 1) {
  let nowMs = 0
  const rests: (() => void)[] = []
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const timers = {
    setTimeout: (run: () => void) => {
      rests.push(run)
      return () => undefined
    },
  }
  const handler = (n: unknown): string => {
    nowMs++
    return `${n}`.padEnd(textLength, ' ')
  }
  const row = method({ name: 'Cheap', perm: 'read', params: [param('n', json)], result: json, handler })
  const queues = new CostQueues({ clock, timers })
  const engine = new RpcEngine({
    table: createMethodTable([row]),
    json: { addressPrefix: 't' },
    log: silentLog,
    queues,
  })
  const rest = async (): Promise<void> => {
    for (const run of rests.splice(0)) run()
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  const connect = () => {
    const answers: number[] = []
    const state = { answers, unread: 0, isStopped: false }
    const session = new RpcSession({
      ...{ engine, version: 'v1', permissions: () => new Set(['read']) },
      sink: {
        send: (text) => {
          answers.push(Number((JSON.parse(text) as { result: string }).result))
          state.unread += text.length
        },
        unreadBytes: () => state.unread,
        hold: (isHeld) => (state.isStopped = isHeld),
        close: () => undefined,
      },
    })
    const ask = (n: number): void =>
      session.receive(`{"jsonrpc":"2.0","id":${n},"method":"Filecoin.Cheap","params":[${n}]}`)
    return { state, session, ask }
  }
  return { connect, rest, now: () => nowMs }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

it('of several connections: no turn is long, each is answered in order, and read from again in the end', async () => {
  const { connect, rest, now } = node()
  const all = numbers(20).map(connect)
  const began = now()
  for (const { ask } of all) for (const n of numbers(50)) ask(n)
  expect(now() - began).toBeLessThanOrEqual(2 * DEAR_TURN_MS)
  // Nothing more is read meanwhile.
  expect(all.every(({ state }) => state.isStopped)).toBe(true)
  const isDone = (): boolean => all.every(({ state }) => state.answers.length === 50 && !state.isStopped)
  for (let i = 0; i < 5_000 && !isDone(); i++) {
    const before = now()
    await rest()
    expect(now() - before).toBeLessThanOrEqual(2 * DEAR_TURN_MS)
  }
  for (const { state } of all) expect([state.answers, state.isStopped]).toEqual([numbers(50), false])
})

it('that wait for their turn are taken when the client has read, too, and no more of one that has gone', async () => {
  const { connect, rest } = node(HOLD_UNREAD_BYTES / 2)
  const { state, session, ask } = connect()
  for (const n of numbers(20)) ask(n)
  for (let i = 0; i < 10; i++) await rest()
  // Two fill what may be unread, the third is over it.
  expect([state.answers.length, state.isStopped]).toEqual([2, true])
  for (let taken = 2; taken < 20; taken = state.answers.length) {
    state.unread = 0
    session.drained()
    for (let i = 0; i < 10; i++) await rest()
    expect(state.answers.length).toBeGreaterThan(taken)
  }
  expect(state.answers).toEqual(numbers(20))
  state.unread = 0
  session.drained()
  for (let i = 0; i < 10; i++) await rest()
  expect(state.isStopped).toBe(false)

  for (const n of numbers(20)) ask(n)
  session.end()
  const before = state.answers.length
  for (let i = 0; i < 10; i++) await rest()
  expect(state.answers.length).toBe(before)
})
