/** Calls that cost much: their queues, and that cheap ones never wait for a row of them. */
import { describe, expect, test } from 'vitest'
import { COST_LIMITS, DEAR_TURN_MS, PART_MS, REFUSAL_MS } from '../../src/base/bounds.ts'
import { json, listOrEmpty, uint } from '../../src/codec/description.ts'
import { type CallerName, type CostLimit, CostQueues, type DearClass } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { listing } from '../../src/rpc/listing.ts'
import { type CallContext, listMethod, method, param } from '../../src/rpc/method.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { CountedTime } from './countedTime.ts'
import { silentLog, verifierOf } from './stubTable.ts'

const SMALL: CostLimit = {
  running: 1,
  runningOfCaller: 1,
  runningWithoutToken: 1,
  waiting: 3,
  perToken: 3,
  perAddress: 2,
  deadlineMs: 1000,
}
const limits: Record<DearClass, CostLimit> = {
  ...{ scan: SMALL, execute: SMALL, stream: SMALL, sign: SMALL, wait: SMALL },
}
const token = (name: string): CallerName => ({ name, hasToken: true })
const address = (name: string): CallerName => ({ name, hasToken: false })

function open(of: Readonly<Record<DearClass, CostLimit>> = limits) {
  const time = new CountedTime()
  const queues = new CostQueues({ clock: time, timers: time }, of)
  const began: string[] = []
  const signals: AbortSignal[] = []
  const ends: (() => void)[] = []
  const never = new AbortController().signal
  const call = (name: string, caller: CallerName, signal = never): Promise<string> =>
    queues.run('scan', caller, signal, (ended) => {
      began.push(name)
      signals.push(ended)
      return new Promise<string>((resolve) => ends.push(() => resolve(name)))
    })
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  const endNext = async (): Promise<void> => {
    ends.shift()?.()
    await settle()
  }
  return { time, queues, began, signals, call, settle, endNext }
}

/** A test that waits for what never comes ends by its own limit. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 0))
}

/** A method whose answer never ends. */
function numbers(of: Readonly<Record<DearClass, CostLimit>>) {
  const time = new CountedTime()
  const queues = new CostQueues({ clock: time, timers: time }, { ...of, scan: { ...of.scan, deadlineMs: 120_000 } })
  function* items(): IterableIterator<number> {
    for (let i = 0; ; i++) yield i
  }
  const row = listMethod({
    ...{ name: 'Numbers', perm: 'read', cost: 'scan', params: [], result: listOrEmpty(uint) },
    list: () => listing(uint, items),
  })
  const engine = new RpcEngine({
    ...{ table: createMethodTable([row]), json: { addressPrefix: 't' }, log: silentLog, queues },
  })
  const handler = new HttpHandler(engine, { verifier: verifierOf(() => new Set(['read'])) })
  const body = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.Numbers","params":[]}'
  /** What follows the first part of an answer. */
  const parts = async (address = '192.0.2.1'): Promise<AsyncIterator<string>> => {
    const { rest } = await handler.handle({ verb: 'POST', url: '/rpc/v1', header: () => undefined, body, address })
    if (rest === undefined) throw new Error('refused')
    return rest[Symbol.asyncIterator]()
  }
  return { time, queues, parts }
}

describe('a queue', () => {
  test('callers take turns, however many calls one of them has', async () => {
    const { call, began, settle, endNext } = open()
    const all = [call('a1', token('a')), call('a2', token('a')), call('a3', token('a')), call('b1', token('b'))]
    await settle()
    for (let i = 0; i < 4; i++) await endNext()
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1'])
    expect(began).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  test('of one token as many as its bound, and one above; without a token fewer', async () => {
    const { call, settle, endNext, queues } = open()
    const mine = [1, 2, 3].map((n) => call(`a${n}`, token('a')))
    await settle()
    expect(queues.load('scan')).toEqual({ running: 1, waiting: 2 })
    await expect(async () => await call('a4', token('a'))).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    for (let i = 0; i < 3; i++) await endNext()
    await Promise.all(mine)
    const strangers = [1, 2].map((n) => call(`s${n}`, address('s')))
    await expect(async () => await call('s3', address('s'))).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    for (let i = 0; i < 2; i++) await settle().then(endNext)
    await Promise.all(strangers)
    const again = call('a5', token('a'))
    await settle()
    await endNext()
    expect(await again).toBe('a5')
  })

  test('of all callers as many as its bound, and one above', async () => {
    const { call, settle } = open()
    for (const name of ['a', 'b', 'c', 'd']) void call(name, token(name))
    await settle()
    await expect(async () => await call('e', token('e'))).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  test('one caller has not all places, and those without a token leave some to those with one', async () => {
    const { running, runningOfCaller, runningWithoutToken } = COST_LIMITS.scan
    const { call, began, settle, endNext } = open(COST_LIMITS)
    const many = (name: string): CallerName[] => Array.from({ length: running }, () => address(name))
    const all = ['a', 'b', 'c'].flatMap(many).map((caller) => call(caller.name, caller))
    await settle()
    expect(began.join('')).toBe('a'.repeat(runningOfCaller) + 'b'.repeat(runningWithoutToken - runningOfCaller))
    const tokens = Array.from({ length: running }, () => call('T', token('t')))
    await settle()
    expect(began.splice(0).slice(runningWithoutToken).join('')).toBe('T'.repeat(running - runningWithoutToken))
    // As soon as one of theirs ends, in turns.
    for (let i = 0; i < 3; i++) await endNext()
    expect([...began].sort()).toEqual(['a', 'b', 'c'])
    while (began.length < 3 * running) await endNext()
    for (let i = 0; i < running; i++) await endNext()
    expect(await Promise.all([...all, ...tokens])).toHaveLength(4 * running)
  })

  test('who goes leaves the queue at once; what runs is told to stop and keeps its place until it has', async () => {
    const { call, began, signals, settle, endNext, queues } = open()
    const client = new AbortController()
    const running = call('a1', token('a'), client.signal)
    const waiting = call('a2', token('a'), client.signal)
    const other = call('b1', token('b'))
    await settle()
    client.abort()
    await expect(running).rejects.toMatchObject({ code: 'CANCELLED' })
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(signals[0]?.aborted).toBe(true)
    expect(queues.load('scan')).toEqual({ running: 1, waiting: 1 })
    await endNext()
    await endNext()
    expect(await other).toBe('b1')
    expect(began).toEqual(['a1', 'b1'])
    expect(queues.load('scan')).toEqual({ running: 0, waiting: 0 })
  })

  /** A call of a's that hands over a part of its answer, goes on when that is taken, and ends with `work`. */
  function listed(
    queues: CostQueues,
    signal: AbortSignal = new AbortController().signal,
    work: Promise<void> = Promise.resolve(),
  ) {
    const { promise: isTaken, resolve: take } = Promise.withResolvers<void>()
    const told: string[] = []
    const answer = queues.run('scan', token('a'), signal, async (_ended, place) => {
      place.leave()
      told.push('paused')
      await isTaken
      await place.enter()
      told.push('again')
      await work
      return 'listed'
    })
    return { answer, take, told }
  }

  test('whose answer waits for its client has no place; then it is before its caller’s others, in turns with those of others', async () => {
    const { queues, call, began, settle, endNext } = open()
    const { answer, take, told } = listed(queues)
    const all = [call('a2', token('a')), call('b1', token('b')), call('a3', token('a'))]
    await until(() => began.join() === 'a2')
    expect(queues.load('scan')).toEqual({ running: 1, waiting: 2 })
    // It counts as one of its caller's all the time.
    await expect(async () => await call('a4', token('a'))).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    take()
    await settle()
    await endNext()
    expect([began, told]).toEqual([['a2', 'b1'], ['paused']])
    await endNext()
    expect(await answer).toBe('listed')
    await until(() => began.join() === 'a2,b1,a3')
    await endNext()
    expect(await Promise.all(all)).toEqual(['a2', 'b1', 'a3'])
    expect(queues.load('scan')).toEqual({ running: 0, waiting: 0 })
  })

  test('whose client goes while its answer waits for a place is told, and waits no more', async () => {
    const { queues, call, began, settle, endNext } = open()
    const client = new AbortController()
    const { answer, take, told } = listed(queues, client.signal)
    const other = call('b1', token('b'))
    await until(() => began.join() === 'b1')
    take()
    await settle()
    expect(queues.load('scan')).toEqual({ running: 1, waiting: 1 })
    client.abort()
    await expect(answer).rejects.toMatchObject({ code: 'CANCELLED' })
    await settle()
    expect(queues.load('scan')).toEqual({ running: 1, waiting: 0 })
    await endNext()
    expect([await other, told]).toEqual(['b1', ['paused']])
    expect(queues.load('scan')).toEqual({ running: 0, waiting: 0 })
  })

  test('what an answer waits for its place, others having theirs, is not counted', async () => {
    const { time, queues, call, began, settle, endNext } = open()
    const { answer, take, told } = listed(queues, undefined, new Promise(() => undefined))
    let failure: unknown
    answer.catch((error: unknown) => (failure = error))
    const other = call('b1', token('b'))
    await until(() => began.join() === 'b1')
    take()
    await settle()
    await time.pass(SMALL.deadlineMs - 1)
    await endNext()
    expect([await other, told]).toEqual(['b1', ['paused', 'again']])
    // All of its time is left.
    await time.pass(SMALL.deadlineMs - 1)
    expect(failure).toBeUndefined()
    await time.pass(1)
    await settle()
    expect(failure).toMatchObject({ code: 'TIMED_OUT' })
  })

  test('at its deadline a call is refused and told to stop', async () => {
    const { call, time, signals, settle } = open()
    const late = call('a1', token('a'))
    await settle()
    await time.pass(SMALL.deadlineMs - 1)
    expect(signals[0]?.aborted).toBe(false)
    await time.pass(1)
    await expect(late).rejects.toMatchObject({ code: 'TIMED_OUT' })
    expect(signals[0]?.aborted).toBe(true)
  })

  test.each([
    ['goes on with each part that is taken', PART_MS - 1, 200, limits],
    ['ends where it is read too slowly', PART_MS + 1_000, 117, COST_LIMITS],
  ] as const)('an answer in parts %s', async (_name, pauseMs, most, of) => {
    const { time, queues, parts: ask } = numbers(of)
    const parts = await ask()
    // The slow one lacks a second with each part, of the 118 that it has beside the first.
    for (let i = 0; i < most; i++) {
      await time.pass(pauseMs)
      expect((await parts.next()).done).toBe(false)
    }
    // What is not taken is not kept for long.
    await time.pass(most === 200 ? 120_000 : pauseMs)
    await expect(parts.next()).rejects.toMatchObject({ code: 'TIMED_OUT' })
    expect(queues.load('scan')).toEqual({ running: 0, waiting: 0 })
  })

  test('answers that nobody reads keep nobody from places', async () => {
    const { time, queues, parts } = numbers(COST_LIMITS)
    const unread = await Promise.all(Array.from({ length: COST_LIMITS.scan.perAddress }, () => parts()))
    expect(queues.load('scan')).toEqual({ running: 0, waiting: 0 })
    const other = await parts('192.0.2.2')
    for (const answer of [other, ...unread]) expect((await answer.next()).value).toMatch(/^,\d/)
    let told: string | undefined
    void parts().then(
      () => (told = 'answered'),
      (error: unknown) => (told = String(error)),
    )
    // Who is one too many is told later.
    await time.pass(REFUSAL_MS)
    await until(() => told !== undefined)
    expect(told).toBe('Error: refused')
    for (const answer of unread) await answer.return?.()
    const again = await parts()
    expect((await again.next()).done).toBe(false)
  })
})

describe('over HTTP', () => {
  const time = new CountedTime()
  const queues = new CostQueues({ clock: time, timers: time })
  let running: (() => void)[] = []
  const rows = [
    method({
      name: 'Dear',
      perm: 'read',
      cost: 'execute',
      params: [],
      result: json,
      handler: () => new Promise<string>((resolve) => running.push(() => resolve('done'))),
    }),
    method({
      name: 'Late',
      perm: 'read',
      cost: 'scan',
      params: [],
      result: json,
      handler: async () => {
        await Promise.resolve()
        time.now += 2
        return 'late'
      },
    }),
    method({ name: 'Cheap', perm: 'read', params: [], result: json, handler: () => 'now' }),
    method({
      name: 'Scan',
      perm: 'read',
      cost: 'scan',
      params: [param('n', json)],
      result: json,
      handler: (n, _call: CallContext) => {
        time.now += 2
        return n
      },
    }),
  ]
  const engine = new RpcEngine({
    table: createMethodTable(rows),
    json: { addressPrefix: 't' },
    log: silentLog,
    queues,
  })
  const turn = <T>(part: () => Promise<T>): Promise<T> => queues.turn(part)
  const handler = new HttpHandler(engine, { verifier: verifierOf(() => new Set(['read'])), turn })
  const post = (body: string, from = '192.0.2.1') =>
    handler.handle({ verb: 'POST', url: '/rpc/v1', header: () => undefined, body, address: from })
  const call = (name: string, params = '[]'): string =>
    `{"jsonrpc":"2.0","id":1,"method":"Filecoin.${name}","params":${params}}`

  test('above the bound of an address: -32005, status 429 and when to come again; others are not touched', async () => {
    const { perAddress, running: atOnce } = COST_LIMITS.execute
    const mine = Array.from({ length: perAddress }, () => post(call('Dear')))
    const told: string[] = []
    const refusal = Promise.resolve(post(call('Dear')))
    void refusal.then(({ status }) => told.push(`status ${status}`))
    // A batch waits once, whatever it holds.
    const batch = Promise.resolve(post(`[${call('Dear')},${call('Dear')}]`))
    void batch.then(({ body }) => told.push(`batch of ${body.split('-32005').length - 1}`))
    const session = new RpcSession({
      ...{ engine, version: 'v1', permissions: () => new Set(['read']) },
      name: { name: 'address 192.0.2.1', hasToken: false },
      sink: {
        send: (text) => void told.push(`session ${JSON.parse(text).error.code}`),
        unreadBytes: () => 0,
        close: () => undefined,
      },
    })
    session.receive(call('Dear'))
    // Not at once: who asks again and again has few refusals made.
    for (const [passed, expected] of [
      [REFUSAL_MS - 1, []],
      [1, ['batch of 2', 'session -32005', 'status 429']],
    ] as const) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      await time.pass(passed)
      await new Promise((resolve) => setTimeout(resolve, 0))
      expect(told.toSorted()).toEqual(expected)
    }
    const refused = await refusal
    expect(refused.status).toBe(429)
    expect(refused.headers['Retry-After']).toBe('1')
    expect(JSON.parse(refused.body)).toMatchObject({ error: { code: -32005 } })
    expect((await post(call('Cheap'))).status).toBe(200)
    const other = post(call('Dear'), '192.0.2.2')
    let answered = 0
    for (const one of [...mine, other]) void Promise.resolve(one).then(() => answered++)
    while (answered <= perAddress) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      expect(running.length).toBeLessThanOrEqual(atOnce)
      for (const end of running.splice(0)) end()
    }
    expect((await other).status).toBe(200)
  })

  test('work behind an await takes its turns, too', async () => {
    const before = time.turns
    const answers = await Promise.all(Array.from({ length: 50 }, async () => await post(call('Late'))))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    // 50 calls of 2 ms, at most eight of them under way when a turn is over.
    expect(time.turns - before).toBeGreaterThanOrEqual(Math.floor(50 / COST_LIMITS.scan.running) - 1)
  })

  test('a batch counts one by one, and takes its turns', async () => {
    running = []
    const before = time.turns
    const calls = Array.from({ length: 100 }, (_, i) => call('Scan', `[${i}]`))
    const answer = await post(`[${calls.join()}]`)
    const results = (JSON.parse(answer.body) as { result: number }[]).map(({ result }) => result)
    expect(results).toEqual(calls.map((_, i) => i))
    expect(time.turns - before).toBeGreaterThanOrEqual(Math.floor(200 / (DEAR_TURN_MS + 2)))
  })
})
