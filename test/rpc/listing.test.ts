/** Results of very many items: sent as they are found, at the pace of who reads, and given up with them. */
import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { startServer } from '../../platform/server/httpServer.ts'
import type { Listening } from '../../platform/server/rpcServer.ts'
import { COST_LIMITS } from '../../src/base/bounds.ts'
import type { Json } from '../../src/codec/description.ts'
import { jsonOnly, listOrEmpty, uint } from '../../src/codec/description.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { RpcError } from '../../src/rpc/errors.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import type { HttpRequest } from '../../src/rpc/httpMessage.ts'
import { listing, numberedListing } from '../../src/rpc/listing.ts'
import { listMethod, type MethodRow, param } from '../../src/rpc/method.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { silentLog, stubVerifier } from './stubTable.ts'

/** Items that were asked for, and whether the search has ended. */
const seen = { items: 0, hasEnded: false }

/** @param failAt - 0: never */
function* numbers(count: number, failAt: number): IterableIterator<number | undefined> {
  try {
    for (let i = 1; i <= count; i++) {
      if (i === failAt) throw new RpcError('FAILED', `no item ${i}`)
      seen.items++
      yield undefined
      yield i
    }
  } finally {
    seen.hasEnded = true
  }
}

function* pairs(count: number): IterableIterator<readonly [number, number]> {
  for (let i = 0; i < count; i++) yield [i * 2, i]
}

const map = jsonOnly<ReadonlyMap<number, number>>(
  'map[string]int',
  (value) => Object.fromEntries(value) as { [key: string]: Json },
  () => new Map(),
  { type: 'object' },
)
/** More items than the first part has. */
const LEAST = 20_000
const params = [param('count', uint), param('failAt', uint)]
const rows: MethodRow[] = [
  listMethod({
    ...{ name: 'Numbers', perm: 'read', cost: 'scan', params, result: listOrEmpty(uint) },
    list: (count, failAt) => listing(uint, () => numbers(count, failAt)),
  }),
  listMethod({
    ...{ name: 'Pairs', perm: 'read', cost: 'scan', params, result: map },
    list: (count) => numberedListing(uint, () => pairs(count)),
  }),
]

describe('a listing', () => {
  const queues = new CostQueues({ clock: systemClock, timers: systemTimers })
  const engine = new RpcEngine({ table: createMethodTable(rows), json: { addressPrefix: 't' }, log: silentLog, queues })
  const handler = new HttpHandler(engine, { verifier: stubVerifier })
  let server: Listening

  beforeEach(async () => {
    Object.assign(seen, { items: 0, hasEnded: false })
    server = await startServer({ handler, engine, host: '127.0.0.1', port: 0, log: silentLog, closeGraceMs: 0 })
  })
  afterEach(() => server.close())

  const call = (name: string, count: number, failAt = 0): string =>
    JSON.stringify({ jsonrpc: '2.0', id: 7, method: `Filecoin.${name}`, params: [count, failAt] })
  const post = (body: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}/rpc/v1`, { method: 'POST', body })

  it.each([0, 1, 5, 40_000])(
    'of %i items is the same text streamed, in a batch, and as JSON.stringify has it',
    async (count) => {
      const all = Array.from({ length: count }, (_, i) => i + 1)
      const expected = `{"id":7,"jsonrpc":"2.0","result":${JSON.stringify(all)}}`
      const streamed = await post(call('Numbers', count))
      expect(streamed.headers.get('content-type')).toBe('application/json')
      expect((await streamed.text()).trim()).toBe(expected)
      expect((await (await post(`[${call('Numbers', count)}]`)).text()).replaceAll('\n', '')).toBe(`[${expected}]`)
      const object = Object.fromEntries(all.map((one) => [(one - 1) * 2, one - 1]))
      expect((await (await post(call('Pairs', count))).text()).trim()).toBe(
        `{"id":7,"jsonrpc":"2.0","result":${JSON.stringify(object)}}`,
      )
      expect(queues.load('scan')).toEqual({ waiting: 0, running: 0 })
    },
  )

  it('that fails before anything is sent is an error object; later the connection breaks', async () => {
    expect(await (await post(call('Numbers', 10, 3))).json()).toEqual({
      error: { code: 1, message: 'no item 3' },
      id: 7,
      jsonrpc: '2.0',
    })
    const broken = await post(call('Numbers', 1_000_000, 100_000))
    expect(broken.status).toBe(200)
    await expect(broken.text()).rejects.toThrow()
    expect(queues.load('scan').running).toBe(0)
  })

  it('that is one too many is refused as any call is: 429, with its id and when to come again', async () => {
    const none = { ...COST_LIMITS.scan, perAddress: 0, perToken: 0, running: 1, waiting: 0, deadlineMs: 1000 }
    const limits = { ...COST_LIMITS, scan: none }
    const full = new CostQueues({ clock: systemClock, timers: systemTimers }, limits)
    const table = createMethodTable(rows)
    const busy = new RpcEngine({ table, json: { addressPrefix: 't' }, log: silentLog, queues: full })
    const refusing = new HttpHandler(busy, { verifier: stubVerifier })
    const body = call('Numbers', 10)
    const asked: HttpRequest = { verb: 'POST', url: '/rpc/v1', header: () => undefined, body, address: '127.0.0.1' }
    const answer = await refusing.handle(asked)
    expect([answer.status, answer.headers['Retry-After']]).toEqual([429, '1'])
    expect(JSON.parse(answer.body as string)).toMatchObject({ id: 7, error: { code: -32005 } })
  })

  it('goes on as its client reads, and ends with it', async () => {
    const count = 50_000_000
    await new Promise<void>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: server.port, path: '/rpc/v1', method: 'POST' }
      const sent = request(options, (response) => {
        response.once('readable', () => {
          // Nothing is read: what the sockets hold is all that was made, and it has no place meanwhile.
          const settled = (before: number): void => {
            if (seen.items > before || seen.items <= LEAST || queues.load('scan').running > 0) {
              setTimeout(() => settled(seen.items), 300)
              return
            }
            try {
              expect(seen.items).toBeLessThan(count / 10)
              expect(seen.hasEnded).toBe(false)
            } catch (error) {
              reject(error as Error)
            }
            sent.destroy()
            resolve()
          }
          setTimeout(() => settled(seen.items), 300)
        })
      })
      sent.on('error', () => undefined)
      sent.end(call('Numbers', count))
    })
    await expect.poll(() => [seen.hasEnded, queues.load('scan').running]).toEqual([true, 0])
  })
})
