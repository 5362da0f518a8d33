/** What filters want is counted as what it takes in memory, and nothing of the request that brought it is kept beside it. */
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/codec/jsonText.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { EthLogSearch } from '../../src/rpc/ethLogSearch.ts'
import { actorEventMethods } from '../../src/rpc/methods/actorEvents.ts'
import { ethFilterMethods } from '../../src/rpc/methods/ethFilters.ts'
import { ethSubscribeMethods } from '../../src/rpc/methods/ethSubscribe.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { eventFilter } from '../../src/rpc/types/actorEvents.ts'
import { logFilter } from '../../src/rpc/types/logFilter.ts'
import { delegatedAddress, NAMESPACE_EAM } from '../../src/types/address.ts'
import { aliveBytes } from '../support/aliveBytes.ts'
import { forkingChain, JSON_CONTEXT, loggedBlock, loggedReader, turn } from './forkingChain.ts'
import { silentLog } from './stubTable.ts'

/** Of an exchange that watches the addresses of all its clients; of a set that has just grown. */
const SIZES = [8_200, 10_000] as const
const FILTERS = 8
/** What a filter, or a subscription, takes beside what it wants, bytes. */
const BESIDE = 16_384

const hex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`
const many = <T>(count: number, one: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => one(i))
const LOGS: Record<string, (count: number) => Json> = {
  addresses: (count) => ({ address: many(count, () => hex(20)) }),
  'masked IDs': (count) => ({
    address: many(count, (i) => `0xff${(0x12345678_0000n + BigInt(i)).toString(16).padStart(38, '0')}`),
  }),
  topics: (count) => ({ topics: [null, many(count, () => hex(32))] }),
}
const EVENTS: Record<string, (count: number) => Json> = {
  numbers: (count) => ({ addresses: many(count, (i) => `t0${1000 + i}`) }),
  'f410 addresses': (count) => ({
    addresses: many(count, () => delegatedAddress(NAMESPACE_EAM, randomBytes(20)).toString('t')),
  }),
  values: (count) => ({
    fields: { t1: many(count, () => ({ codec: 85, value: randomBytes(32).toString('base64') })) },
  }),
  fields: (count) => ({
    fields: Object.fromEntries(many(count / 2, (i) => [`field ${i}`, [{ codec: 85, value: 'AAAA' }]])),
  }),
}

/** Memory of what each of several calls of `hold` leaves, bytes. */
function heldBytes(hold: () => unknown): number {
  // What is made once is no part of it.
  const kept: unknown[] = [hold()]
  const before = aliveBytes()
  for (let i = 0; i < FILTERS; i++) kept.push(hold())
  const bytes = (aliveBytes() - before) / FILTERS
  expect(kept).toHaveLength(FILTERS + 1)
  return bytes
}

describe.each([
  ['logs', logFilter, LOGS],
  ['events', eventFilter, EVENTS],
] as const)('a filter of %s', (_, codec, filters) => {
  it.each(Object.entries(filters))('is counted as what it takes: %s', (_, filter) => {
    for (const size of SIZES) {
      // As JSON, so that nothing of it is anybody else's.
      const text = JSON.stringify(filter(size))
      const { bytes } = codec.fromJson(JSON.parse(text), JSON_CONTEXT)
      const taken = heldBytes(() => codec.fromJson(JSON.parse(text), JSON_CONTEXT))
      expect(bytes / taken).toBeGreaterThan(0.99)
      expect(bytes / taken).toBeLessThan(1.4)
    }
  })
})

it.each([
  ['Filecoin.EthNewFilter', [], logFilter, LOGS],
  ['eth_subscribe', ['logs'], logFilter, LOGS],
  ['Filecoin.SubscribeActorEventsRaw', [], eventFilter, EVENTS],
] as const)('%s keeps nothing of its request', async (method, before, codec, filters) => {
  const { store } = forkingChain(1)
  const reader = loggedReader(store, async (tipset) => loggedBlock(tipset, 1))
  const deps = {
    ...{ reader, log: silentLog, onPoolMessage: () => () => undefined },
    random: { fill: (out: Uint8Array) => void out.set(randomBytes(out.length)) },
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
  }
  const engine = new RpcEngine({
    table: createMethodTable([
      ...ethFilterMethods({ ...deps, search: new EthLogSearch(reader) }),
      ...ethSubscribeMethods(deps),
      ...actorEventMethods(deps),
    ]),
    ...{ json: JSON_CONTEXT, log: silentLog },
  })
  const answers: string[] = []
  const sink = { send: (text: string) => void answers.push(text), unreadBytes: () => 0, close: () => undefined }
  const session = new RpcSession({ engine, version: 'v1', permissions: () => new Set(['read']), sink })
  const [filter] = Object.values(filters)
  const wanted = filter?.(10_000) ?? null
  const { bytes } = codec.fromJson(wanted, JSON_CONTEXT)
  // With a number of 16 digits, which is read in another way.
  const text = JSON.stringify({ pad: ' '.repeat(500_000), n: 1, jsonrpc: '2.0', method, params: [...before, wanted] })
  let id = 1_000_000_000_000_000
  const ask = (): void => session.receive(text.replace('"n":1', `"id":${id++}`))
  ask()
  await turn()
  const start = aliveBytes()
  for (let i = 0; i < FILTERS; i++) {
    ask()
    await turn()
  }
  const taken = (aliveBytes() - start) / FILTERS
  expect(answers.map((answer) => answer.includes('"result"'))).toEqual(many(FILTERS + 1, () => true))
  expect(taken).toBeLessThan(bytes + BESIDE)
  session.end()
})
