/** Where too much waits for the machine, a call is one too many as it is above a bound of its own: what callers are told of it. */
import { describe, expect, test } from 'vitest'
import { REFUSAL_MS } from '../../src/base/bounds.ts'
import { ChainError } from '../../src/chain/errors.ts'
import { json } from '../../src/codec/description.ts'
import { replicaRows } from '../../src/node/forwardedRows.ts'
import { httpTransport } from '../../src/rpc/client/httpTransport.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { RpcError } from '../../src/rpc/errors.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import type { HttpResponse } from '../../src/rpc/httpMessage.ts'
import { type MethodRow, method } from '../../src/rpc/method.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { JSON_CONTEXT, turn } from './forkingChain.ts'
import { silentLog, verifierOf } from './stubTable.ts'

const TEXT = 'Cannot execute now: 64 executions are waiting already'
const BUSY = new ChainError('VM_BUSY', TEXT)
const calls = (name: string): string => `{"jsonrpc":"2.0","id":1,"method":"Filecoin.${name}","params":[]}`

function failing(name: string, error: Error): MethodRow {
  return method({ name, perm: 'read', params: [], result: json, handler: () => Promise.reject(error) })
}

function serve(rows: readonly MethodRow[]) {
  const time = new FakeTime()
  const queues = new CostQueues({ clock: time, timers: time })
  const engine = new RpcEngine({ table: createMethodTable(rows), json: JSON_CONTEXT, log: silentLog, queues })
  const handler = new HttpHandler(engine, { verifier: verifierOf(() => new Set(['read'])) })
  /** @returns what it is answered with when those have waited that are one too many */
  const post = async (body: string): Promise<HttpResponse> => {
    const answer = Promise.resolve(handler.handle({ verb: 'POST', url: '/rpc/v1', header: () => undefined, body }))
    await turn()
    await time.pass(REFUSAL_MS)
    return await answer
  }
  return { time, engine, post }
}

describe.each([
  ['at once', BUSY],
  ['within another failure', new RpcError('FAILED', TEXT, { cause: BUSY })],
])('a machine that is busy, told %s', (_, error) => {
  const { post, engine, time } = serve([failing('Read', error)])

  test('over HTTP: -32005, status 429 and when to come again; in a batch -32005', async () => {
    const { status, headers, body } = await post(calls('Read'))
    expect([status, headers['Retry-After']]).toEqual([429, '1'])
    expect(JSON.parse(body)).toMatchObject({ error: { code: -32005, message: TEXT } })
    const batch = await post(`[${calls('Read')},${calls('Read')}]`)
    expect(JSON.parse(batch.body)).toMatchObject([{ error: { code: -32005 } }, { error: { code: -32005 } }])
  })

  test('over a WebSocket: -32005, a little later', async () => {
    const told: string[] = []
    const sink = { send: (text: string) => void told.push(text), unreadBytes: () => 0, close: () => undefined }
    const session = new RpcSession({ engine, version: 'v1', permissions: () => new Set(['read']), sink })
    session.receive(calls('Read'))
    await turn()
    await time.pass(REFUSAL_MS - 1)
    expect(told).toEqual([])
    await time.pass(1)
    await turn()
    expect(told.map((text) => JSON.parse(text) as unknown)).toMatchObject([{ error: { code: -32005, message: TEXT } }])
  })

  test('to a client: the number is there to try again by', async () => {
    const transport = httpTransport(async (body) => {
      const { status, body: text } = await post(body)
      return { status, text }
    })
    await expect(transport.request('Filecoin.Read', [])).rejects.toMatchObject({
      code: 'REMOTE',
      message: TEXT,
      info: { code: -32005 },
    })
  })

  test('to a replica that passed a call on: one too many there, too', async () => {
    const writer = serve([failing('MpoolPending', error)])
    const transport = httpTransport(async (body) => {
      const { status, body: text } = await writer.post(body)
      return { status, text }
    })
    const replica = serve(replicaRows([failing('MpoolPending', new Error('asked here'))], () => transport))
    const answer = replica.post(calls('MpoolPending'))
    for (let i = 0; i < 10; i++) await turn()
    await replica.time.pass(REFUSAL_MS)
    const { status, headers } = await answer
    expect([status, headers['Retry-After']]).toEqual([429, '1'])
  })
})
