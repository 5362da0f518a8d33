/** Results that were printed before the engine saw them: in pieces to who can write those, as text to everybody else. */
import { describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { startServer } from '../../platform/server/httpServer.ts'
import { MAX_ANSWER_BYTES } from '../../src/base/bounds.ts'
import { concatBytes, fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { json } from '../../src/codec/description.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { method, PrintedResult } from '../../src/rpc/method.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { httpRequest, silentLog, stubVerifier } from './stubTable.ts'

const PIECES = ['{"a":"é', '…","b":[', '1', ',', '2', ']}'].map(utf8)
const ANSWER = '{"id":1,"jsonrpc":"2.0","result":{"a":"é…","b":[1,2]}}\n'
const MIB = new Uint8Array(2 ** 20).fill(0x20)
const common = { perm: 'read', params: [], result: json } as const
const table = createMethodTable([
  method({ ...common, name: 'Cheap', handler: () => new PrintedResult(PIECES) }),
  method({ ...common, name: 'Dear', cost: 'execute', handler: async () => new PrintedResult(PIECES) }),
  method({
    ...common,
    name: 'Large',
    handler: () => new PrintedResult(Array(MAX_ANSWER_BYTES / MIB.length).fill(MIB)),
  }),
  method({
    ...common,
    ...{
      name: 'Larger',
      handler: () => new PrintedResult([utf8(' '), ...Array(MAX_ANSWER_BYTES / MIB.length).fill(MIB)]),
    },
  }),
])
const queues = new CostQueues({ clock: systemClock, timers: systemTimers })
const engine = new RpcEngine({ table, json: { addressPrefix: 't' }, log: silentLog, queues })
const handler = new HttpHandler(engine, { verifier: stubVerifier })
const call = (name: string, id = '1'): string => `{"jsonrpc":"2.0","id":${id},"method":"Filecoin.${name}","params":[]}`
const post = async (body: string) => await handler.handle(httpRequest('POST', '/rpc/v1', body))

describe('a result that is printed already', () => {
  for (const name of ['Cheap', 'Dear']) {
    it(`of ${name}: the same to each transport`, async () => {
      const { body, pieces = [] } = await post(call(name))
      expect(body).toBe('')
      expect(fromUtf8(concatBytes(...pieces))).toBe(ANSWER)
      expect((await post(`[${call(name)},${call(name)}]`)).body).toBe(`[${ANSWER},${ANSWER}]`)
      const { promise, resolve } = Promise.withResolvers<string>()
      const session = new RpcSession({
        engine,
        version: 'v1',
        permissions: () => new Set(['read']),
        sink: { send: resolve, unreadBytes: () => 0, close: () => undefined },
      })
      session.receive(call(name))
      expect(`${await promise}\n`).toBe(ANSWER)
      expect((await post(call(name, 'null'))).body).toBe('')
    })

    it(`of ${name}: whole and of known length over a socket`, async () => {
      const server = await startServer({ handler, engine, log: silentLog, host: '127.0.0.1', port: 0, closeGraceMs: 0 })
      const url = `http://127.0.0.1:${server.port}/rpc/v1`
      try {
        const answer = await fetch(url, { method: 'POST', body: call(name) })
        expect(answer.headers.get('content-length')).toBe(String(utf8(ANSWER).length))
        expect(await answer.text()).toBe(ANSWER)
      } finally {
        await server.close()
      }
    })
  }

  it('of as many bytes as an answer may have, and of one more', async () => {
    expect((await post(call('Large'))).pieces).toHaveLength(MAX_ANSWER_BYTES / MIB.length + 3)
    expect(JSON.parse((await post(call('Larger'))).body)).toMatchObject({
      error: { code: 1, message: `the answer has ${MAX_ANSWER_BYTES + 1} bytes, at most ${MAX_ANSWER_BYTES} are sent` },
    })
  })
})
