/** What a request costs before it is answered: its values, its bytes while it waits, what a batch gathers. */
import { describe, expect, it } from 'vitest'
import * as bounds from '../../src/base/bounds.ts'
import { Breather } from '../../src/base/breather.ts'
import { json } from '../../src/codec/description.ts'
import { stringifyJson } from '../../src/codec/jsonText.ts'
import { type CostLimit, CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { Held, type Room } from '../../src/rpc/held.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import type { HttpRequest, HttpResponse } from '../../src/rpc/httpMessage.ts'
import { channelMethod, method, param } from '../../src/rpc/method.ts'
import { parseBody, requestValues } from '../../src/rpc/request.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { until } from '../support/until.ts'
import { wholeBody } from '../support/wholeBody.ts'
import { silentLog, stubVerifier } from './stubTable.ts'

const MIB = 1024 * 1024
const call = (name: string, ...params: string[]): string =>
  `{"jsonrpc":"2.0","id":1,"method":"Filecoin.${name}","params":[${params.join()}]}`

/** Room for so many bytes. */
class Limited implements Room {
  held = 0
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  take(bytes: number): boolean {
    if (this.held + bytes > this.#most) return false
    this.held += bytes
    return true
  }

  give(bytes: number): void {
    this.held -= bytes
  }
}

const ends: (() => void)[] = []
const later = (): Promise<string> => new Promise((resolve) => ends.push(() => resolve('late')))
const endAll = async (): Promise<void> => {
  for (const end of ends.splice(0)) end()
  await new Promise((resolve) => setTimeout(resolve, 0))
}
let counted = 0
const rows = [
  method({ name: 'Page', perm: 'read', params: [], result: json, handler: () => 'x'.repeat(10_000) }),
  method({
    name: 'Count',
    perm: 'read',
    params: [param('small', json)],
    result: json,
    handler: (small) => {
      counted++
      return 'x'.repeat(small === 1 ? 10 : 20_000)
    },
  }),
  method({ name: 'Big', perm: 'read', params: [], result: json, handler: () => 'x'.repeat(MIB) }),
  method({ name: 'Small', perm: 'read', params: [param('p', json)], result: json, handler: () => 'x' }),
  method({ name: 'Late', perm: 'read', params: [param('p', json)], result: json, handler: () => later() }),
  method({
    name: 'Wait',
    perm: 'read',
    cost: 'wait',
    params: [param('p', json)],
    result: json,
    handler: () => later(),
  }),
  channelMethod({
    ...{ name: 'Open', perm: 'read', params: [param('p', json)], result: json },
    subscribe: () => () => undefined,
  }),
]
const systemTime = {
  clock: { nowMs: () => performance.now(), monotonicMs: () => performance.now() },
  timers: {
    setTimeout: (run: () => void, ms: number) => {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
  },
}
const open = (engine: Partial<ConstructorParameters<typeof RpcEngine>[0]> = {}): RpcEngine =>
  new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log: silentLog, ...engine })

function post(handler: HttpHandler, body: string, more: Partial<HttpRequest> = {}): Promise<HttpResponse> {
  const request = { verb: 'POST', url: '/rpc/v1', header: () => undefined, body, ...more }
  return Promise.resolve(handler.handle(request))
}

describe('the text of a request', () => {
  it('spaces in it are gone through once', () => {
    // As a regular expression's work, the square of them: minutes.
    const spaces = ' '.repeat(400_000)
    expect(parseBody(`${spaces}[${spaces}{}]${spaces}`)).toMatchObject({ kind: 'batch' })
    expect(() => parseBody(`{${spaces}x`)).toThrow('Parse error')
    expect(parseBody('\u00a0\u0085\v{}\f\r\n')).toMatchObject({ kind: 'single' })
    expect(() => parseBody(' \n ')).toThrow('Invalid request')
  })

  it('has an id of so many characters: that stays as long as what is asked for', async () => {
    const handler = new HttpHandler(open(), { verifier: stubVerifier })
    const named = (length: number): string => call('Small', '0').replace('"id":1', `"id":"${'i'.repeat(length)}"`)
    expect((await post(handler, named(bounds.MAX_ID_TEXT))).status).toBe(200)
    const refused = await post(handler, named(bounds.MAX_ID_TEXT + 1))
    expect(refused.body).toContain(`${bounds.MAX_ID_TEXT + 1} characters, at most ${bounds.MAX_ID_TEXT}`)
  })

  it('has so many values without a token, and no more', async () => {
    const most = bounds.MAX_ANONYMOUS_VALUES
    // What is around them counts as 12.
    const around = requestValues(call('Small', `"${'x'.repeat(20_000)}"`), most)
    const sized = (values: number): string => call('Small', `[${'0,'.repeat(values - around - 1)}0]`)
    const handler = new HttpHandler(open(), { verifier: stubVerifier })
    expect((await post(handler, sized(most))).status).toBe(200)
    const refused = await post(handler, sized(most + 1))
    expect([refused.status, refused.body]).toEqual([500, expect.stringContaining(`more than ${most} values`)])
    expect((await post(handler, sized(most + 1), { url: '/rpc/v1?token=read' })).status).toBe(200)

    const session = (hasToken: boolean): { one: RpcSession; told: string[] } => {
      const told: string[] = []
      const sink = {
        send: (text: string) => void told.push(text),
        unreadBytes: () => 0,
        close: (why: string) => void told.push(why),
      }
      const permissions = (): ReadonlySet<string> => new Set(['read'])
      return {
        told,
        one: new RpcSession({ engine: open(), version: 'v1', permissions, sink, name: { name: 'a', hasToken } }),
      }
    }
    const [stranger, known] = [session(false), session(true)]
    for (const { one } of [stranger, known]) one.receive(sized(most))
    for (const { one } of [stranger, known]) one.receive(sized(most + 1))
    expect(stranger.told).toEqual([expect.stringContaining('"result":"x"'), `a frame has at most ${most} values`])
    expect(known.told).toHaveLength(2)
  })
})

describe('a batch', () => {
  it('above the bound of its answer is refused one by one as far as its refusals have room, in turns', async () => {
    let [nowMs, pauses] = [0, 0]
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs++ }
    const timers = {
      setTimeout: (run: () => void) => {
        pauses++
        queueMicrotask(run)
        return () => undefined
      },
    }
    const turns = new Breather({ clock, timers }, bounds.DEAR_TURN_MS)
    const handler = new HttpHandler(open(), { verifier: stubVerifier, turn: (part) => turns.run(part) })
    const big = Math.ceil(bounds.MAX_ANSWER_BYTES / MIB)
    const calls = `[${`${call('Big')},`.repeat(big)}${'{},'.repeat(100_000)}{}]`
    const body = await wholeBody(await post(handler, calls))
    // Each line begins with what stands between them; the last is the end of the list.
    const answers = body.split('\n').map((line) => line.length - 1)
    const [bytes, most] = [answers.reduce((a, b) => a + b), bounds.MAX_ANSWER_BYTES + bounds.MAX_REFUSALS_BYTES]
    expect(bytes).toBeLessThanOrEqual(most)
    // One more would not have had room: all are of one length.
    expect(bytes + (answers.at(-2) as number)).toBeGreaterThan(most)
    const refusals = body.split('the answers of this batch have more than').length - 1
    expect(refusals).toBeGreaterThan(1_000)
    expect(refusals).toBeLessThan(20_000)
    // Each request takes a millisecond here.
    expect(pauses).toBeGreaterThan(refusals / (bounds.DEAR_TURN_MS + 1))
  })

  it('is refused where there is no room for its answers in the making', async () => {
    const room = new Limited(40_000)
    const handler = new HttpHandler(open(), { verifier: stubVerifier })
    const batch = (count: number): string => `[${Array<string>(count).fill(call('Page')).join()}]`
    const three = await post(handler, batch(3), { held: new Held(room) })
    expect(three.status).toBe(200)
    expect(room.held).toBeGreaterThan(30_000)
    const two = await post(handler, batch(2), { held: new Held(room) })
    expect([two.status, two.headers['Retry-After']]).toEqual([429, '1'])
    expect(JSON.parse(two.body)).toMatchObject({ error: { code: -32005 }, id: null })
    // What leaves as it is made is held by nobody.
    const many = await post(handler, batch(100), { held: new Held(new Limited(70_000)) })
    expect(JSON.parse(await wholeBody(many))).toHaveLength(100)
  })

  it('that is short is one piece; of a long one the next calls are carried out when what came before is taken', async () => {
    const handler = new HttpHandler(open(), { verifier: stubVerifier })
    const short = await post(handler, `[${call('Big')}]`.replace('Big', 'Page'))
    expect([JSON.parse(short.body).length, short.rest]).toEqual([1, undefined])
    counted = 0
    const calls = Array.from({ length: 40 }, (_, i) => call('Count', `${i % 2}`))
    // 20 kB each, and every other one small; a notification and what is no request among them.
    const answer = await post(handler, `[${calls.join()},{"method":"Filecoin.Small","params":[1]},{}]`)
    expect([answer.status, counted]).toEqual([200, 7])
    const parts = [answer.body]
    for await (const part of answer.rest ?? []) {
      parts.push(part)
      expect(counted).toBeLessThanOrEqual(8 * parts.length)
    }
    expect(parts.length).toBe(6)
    const answers = JSON.parse(parts.join('')) as { result?: unknown; error?: { code: number } }[]
    expect(answers).toHaveLength(41)
    expect(answers.slice(0, 40).every(({ result }) => typeof result === 'string')).toBe(true)
    expect(answers[40]?.error?.code).toBe(-32601)
    expect(parts.join('').split('\n')).toHaveLength(42)
  })

  it('whose caller goes is carried out no further', async () => {
    const handler = new HttpHandler(open(), { verifier: stubVerifier })
    const gone = new AbortController()
    counted = 0
    const calls = Array<string>(40).fill(call('Count', '0')).join()
    const { rest } = await post(handler, `[${calls}]`, { signal: gone.signal })
    gone.abort()
    for await (const _ of rest ?? []) expect(counted).toBe(4)
    expect(counted).toBe(4)
  })
})

describe('a request that is held', () => {
  it('is counted by its values, too', async () => {
    const handler = new HttpHandler(open(), { verifier: stubVerifier })
    const room = new Limited(100_000 * bounds.VALUE_BYTES)
    const body = call('Small', `[${'0,'.repeat(60_000)}0]`)
    expect((await post(handler, body, { held: new Held(room) })).status).toBe(200)
    expect(room.held).toBeGreaterThan(60_000 * bounds.VALUE_BYTES)
    expect((await post(handler, body, { held: new Held(room) })).status).toBe(429)
    // A short one is not looked at.
    expect((await post(handler, call('Small', '0'), { held: new Held(room) })).status).toBe(200)
  })

  it('is given back when it waits for what its parameters alone say', async () => {
    const engine = open({ queues: new CostQueues(systemTime) })
    const handler = new HttpHandler(engine, { verifier: stubVerifier })
    const held = (): { room: Limited; held: Held } => {
      const room = new Limited(10)
      const one = new Held(room)
      one.add(10)
      return { room, held: one }
    }
    const [late, wait, batched] = [held(), held(), held()]
    const answers = [post(handler, call('Late', '[1,2]'), late), post(handler, call('Wait', '[1,2]'), wait)]
    await until(() => ends.length === 2, 'both are under way')
    expect([late.room.held, wait.room.held]).toEqual([10, 0])
    await endAll()
    for (const one of answers) expect((await one).body).toContain('"result":"late"')
    // In a batch others are under way beside it.
    const batch = post(handler, `[${call('Wait', '1')}]`, batched)
    await until(() => ends.length === 1, 'it is under way')
    expect(batched.room.held).toBe(10)
    await endAll()
    await batch
  })

  it('over a WebSocket has its frame counted until it is answered, or the connection has ended', async () => {
    const room = new Limited(10_000)
    const told: string[] = []
    // A clock that stands: each frame is taken in the turn in which it comes, also on a busy machine.
    const engine = open({ queues: new CostQueues({ ...systemTime, clock: { nowMs: () => 0, monotonicMs: () => 0 } }) })
    const session = new RpcSession({
      ...{ engine, version: 'v1', permissions: () => new Set(['read']), room },
      sink: { send: (text) => void told.push(text), unreadBytes: () => 0, close: () => undefined },
    })
    const long = call('Late', stringifyJson('x'.repeat(6_000)))
    session.receive(long)
    expect(room.held).toBe(long.length)
    session.receive(long)
    expect(told.splice(0)).toEqual([expect.stringContaining('too much is held for the requests under way')])
    // A wait and a channel keep nothing of it.
    session.receive(call('Wait', '"x"'))
    session.receive(call('Open', '"x"'))
    expect(told.splice(0)).toEqual([expect.stringContaining('"result":1')])
    await until(() => ends.length === 2, 'both are under way')
    expect(room.held).toBe(long.length)
    await endAll()
    await until(() => told.length === 2, 'both are answered')
    expect([room.held, told.splice(0).length]).toEqual([0, 2])
    session.receive(long)
    session.end()
    expect(room.held).toBe(0)
    await endAll()
    expect(room.held).toBe(0)
  })
})

it('waits have their bound: of an address without a token, of a token, of all', () => {
  const { perAddress, perToken, running, waiting, deadlineMs }: CostLimit = bounds.COST_LIMITS.wait
  expect([perAddress < perToken, perToken < running, waiting, deadlineMs]).toEqual([true, true, 0, 0])
  const queues = new CostQueues(systemTime)
  const never = new Promise<void>(() => undefined)
  const wait = (name: string, hasToken: boolean): string => {
    try {
      void queues.run('wait', { name, hasToken }, new AbortController().signal, () => never)
      return 'waits'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  for (let i = 0; i < perAddress; i++) expect(wait('a', false)).toBe('waits')
  expect(wait('a', false)).toBe('LIMIT_EXCEEDED')
  for (let i = 0; i < perToken; i++) expect(wait('b', true)).toBe('waits')
  expect(wait('b', true)).toBe('LIMIT_EXCEEDED')
  for (let i = perAddress + perToken; i < running; i++) expect(wait(`c${i}`, true)).toBe('waits')
  expect(wait('d', true)).toBe('LIMIT_EXCEEDED')
})
