/** A batch in which calls were one too many says when to come again, where that is known before its headers leave. */
import { describe, expect, test } from 'vitest'
import { COST_LIMITS } from '../../src/base/bounds.ts'
import { json } from '../../src/codec/description.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import type { HttpResponse } from '../../src/rpc/httpMessage.ts'
import { method } from '../../src/rpc/method.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { silentLog, stubVerifier } from './stubTable.ts'

/** Characters of a batch's first part, at least. */
const PART = 1 << 16

/** A node whose callers have as many dear calls under way as one address may. */
function open() {
  const time = new FakeTime()
  const queues = new CostQueues({ clock: time, timers: time })
  const read = { perm: 'read', params: [], result: json } as const
  const rows = [
    method({ ...read, name: 'Dear', cost: 'execute', handler: () => new Promise<Json>(() => undefined) }),
    method({ ...read, name: 'Cheap', handler: () => 'now' }),
    method({ ...read, name: 'Long', handler: () => 'x'.repeat(PART) }),
  ]
  const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log: silentLog, queues })
  const handler = new HttpHandler(engine, { verifier: stubVerifier })
  const post = async (...names: string[]): Promise<HttpResponse> => {
    const calls = names.map((name, id) => ({ jsonrpc: '2.0', id, method: `Filecoin.${name}`, params: [] }))
    const body = JSON.stringify(calls)
    return await handler.handle({ verb: 'POST', url: '/rpc/v1', header: () => undefined, body, address: '192.0.2.1' })
  }
  for (let i = 0; i < COST_LIMITS.execute.perAddress; i++) void post('Dear')
  /** The answer, with what is refused told when it is time for that. */
  const asked = async (...names: string[]): Promise<{ answer: HttpResponse; text: string }> => {
    const answering = post(...names)
    await time.pass(1000)
    const answer = await answering
    let text = answer.body
    const rest = answer.rest?.[Symbol.asyncIterator]()
    for (let done = rest === undefined; !done; ) {
      const next = (rest as AsyncIterator<string>).next()
      await time.pass(1000)
      const part = await next
      done = part.done === true
      text += part.value ?? ''
    }
    return { answer, text }
  }
  return asked
}

const codesOf = (text: string): (number | undefined)[] =>
  (JSON.parse(text) as { error?: { code: number } }[]).map(({ error }) => error?.code)

describe('a batch', () => {
  test('in which some were refused is 200, with the others’ answers, and says when to come again', async () => {
    const { answer, text } = await open()('Cheap', 'Dear', 'Cheap')
    expect(codesOf(text)).toEqual([undefined, -32005, undefined])
    expect([answer.status, answer.headers]).toEqual([200, { 'Content-Type': 'application/json', 'Retry-After': '1' }])
  })

  test('in which none was says nothing of that', async () => {
    const { answer, text } = await open()('Cheap', 'Long', 'Cheap')
    expect(codesOf(text)).toEqual([undefined, undefined, undefined])
    expect(answer.headers).toEqual({ 'Content-Type': 'application/json' })
  })

  test('that is sent in parts says so of its first part alone', async () => {
    const early = await open()('Dear', 'Long', 'Long')
    expect(early.answer.rest).toBeDefined()
    expect([codesOf(early.text)[0], early.answer.headers['Retry-After']]).toEqual([-32005, '1'])
    const late = await open()('Long', 'Dear', 'Long')
    expect([codesOf(late.text)[1], late.answer.headers['Retry-After']]).toEqual([-32005, undefined])
  })
})
