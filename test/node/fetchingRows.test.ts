/** Rows of a node that has not the whole state: what runs again once its blocks are here, what runs once, and lists that go on. */
import { describe, expect, it } from 'vitest'
import { type Cid, CODEC_DAG_CBOR } from '../../src/codec/cid.ts'
import { type Json, jsonOnly, listOrEmpty, uint } from '../../src/codec/description.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { type BlockEdge, BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { getBlock, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { type Found, reading } from '../../src/ipld/found.ts'
import { fetchingRows } from '../../src/node/fetchingRows.ts'
import { CostQueues } from '../../src/rpc/cost.ts'
import { type Caller, RpcEngine } from '../../src/rpc/engine.ts'
import { listing, numberedListing } from '../../src/rpc/listing.ts'
import { listMethod, type MethodRow, method } from '../../src/rpc/method.ts'
import type { Permission } from '../../src/rpc/permission.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { silentLog } from '../rpc/stubTable.ts'
import { VirtualTime } from '../support/virtualTime.ts'

/** Blocks that a peer has, and a store that has none of them. */
class World {
  readonly blocks = new MemoryBlockstore()
  readonly theirs = new Map<string, Uint8Array>()
  fetches = 0
  readonly edge: BlockEdge = new BlockFetcher(this.blocks, [
    {
      fetch: async (cids) => {
        this.fetches++
        await Promise.resolve()
        return cids.flatMap((cid) => {
          const data = this.theirs.get(cid.key)
          return data === undefined ? [] : [[cid, data] as const]
        })
      },
    },
  ]).run

  block(number: number, isKnown = true): Cid {
    const data = Uint8Array.of(0x82, 0x18, number & 255, 0x18, number >> 8)
    const cid = blockCid(data, CODEC_DAG_CBOR)
    if (isKnown) this.theirs.set(cid.key, data)
    return cid
  }
}

const caller: Caller = {
  ...{ version: 'v1', permissions: new Set(['read', 'write']), notify: undefined },
  ...{ signal: new AbortController().signal, ended: new AbortController().signal },
  name: { name: 'me', hasToken: false },
}

/** The answers as HTTP and as WebSocket have them. */
function ask(world: World, row: MethodRow): { http: () => Promise<string>; webSocket: () => Promise<string> } {
  const time = new VirtualTime()
  const queues = new CostQueues({ clock: time, timers: time })
  const table = createMethodTable(fetchingRows([row], world.edge))
  const engine = new RpcEngine({ table, json: { addressPrefix: 't' }, log: silentLog, queues })
  const request = () => ({ id: 1, method: `Filecoin.${row.name}`, params: [] })
  const http = async (): Promise<string> => {
    const outcome = await engine.dispatchStreaming(request(), caller)
    if (outcome.kind !== 'streamed') return 'text' in outcome ? outcome.text : outcome.kind
    const parts = [outcome.text]
    for await (const part of outcome.rest) parts.push(part)
    return parts.join('').trim()
  }
  const webSocket = async (): Promise<string> => {
    const outcome = await engine.dispatch(request(), caller, undefined)
    return 'text' in outcome ? outcome.text : outcome.kind
  }
  return { http: () => time.until(http()), webSocket: () => time.until(webSocket()) }
}

const FACTS = { params: [], result: uint } as const

describe('a call', () => {
  const reading = (world: World, perm: Permission, runsOnce?: boolean) => {
    const done: number[] = []
    const row = method({
      ...{ ...FACTS, name: 'Reads', perm, ...(runsOnce === undefined ? {} : { runsOnce }) },
      handler: () => {
        done.push(done.length)
        for (let i = 0; i < 3; i++) getBlock(world.blocks, world.block(i))
        return done.length
      },
    })
    return { row, done }
  }

  it('that only reads runs again with each block that it missed', async () => {
    for (const one of [undefined, false]) {
      const world = new World()
      const { row, done } = reading(world, one === undefined ? 'read' : 'write', one)
      expect(await ask(world, row).http()).toBe('{"id":1,"jsonrpc":"2.0","result":4}')
      expect([done.length, world.fetches]).toEqual([4, 3])
    }
  })

  it('that does something runs once, whatever it misses', async () => {
    for (const one of [undefined, true]) {
      const world = new World()
      const { row, done } = reading(world, one === undefined ? 'write' : 'read', one)
      expect(await ask(world, row).http()).toContain('ipld: could not find')
      expect([done.length, world.fetches]).toEqual([1, 0])
    }
  })
})

describe('a list', () => {
  /** Blocks that it reads: one before each thousand items. */
  const BLOCKS = 40
  const COUNT = BLOCKS * 1000

  function* numbers(world: World, isKnown: (at: number) => boolean): IterableIterator<number | undefined> {
    for (let i = 0; i < COUNT; i++) {
      if (i % 1000 === 0) getBlock(world.blocks, world.block(i / 1000, isKnown(i / 1000)))
      if (i % 3 === 0) yield undefined
      yield i
    }
  }
  function* pairs(world: World): IterableIterator<readonly [number, number]> {
    for (const item of numbers(world, () => true)) if (item !== undefined) yield [item, item]
  }
  const rowOf = (world: World, isKnown: (at: number) => boolean = () => true): MethodRow =>
    listMethod({
      ...{ name: 'Numbers', perm: 'read', cost: 'scan', params: [], result: listOrEmpty(uint) },
      list: () => {
        getBlock(world.blocks, world.block(1_000))
        return listing(uint, () => numbers(world, isKnown))
      },
    })
  const map = jsonOnly<ReadonlyMap<number, number>>(
    'map[string]int',
    (value) => Object.fromEntries(value) as { [key: string]: Json },
    () => new Map(),
    { type: 'object' },
  )

  it('has the same text over HTTP as over WebSocket, each item once, however often a block is fetched', async () => {
    const all = `{"id":1,"jsonrpc":"2.0","result":${JSON.stringify(Array.from({ length: COUNT }, (_, i) => i))}}`
    for (const way of ['http', 'webSocket'] as const) {
      const world = new World()
      expect(await ask(world, rowOf(world))[way]()).toBe(all)
      expect(world.fetches).toBe(BLOCKS + 1)
    }
    const world = new World()
    const row = listMethod({
      ...{ name: 'Pairs', perm: 'read', cost: 'scan', params: [], result: map },
      list: () => numberedListing(uint, () => pairs(world)),
    })
    const object = Object.fromEntries(Array.from({ length: COUNT }, (_, i) => [i, i]))
    expect(await ask(world, row).http()).toBe(`{"id":1,"jsonrpc":"2.0","result":${JSON.stringify(object)}}`)
  })

  it('that says what it misses is walked once', async () => {
    for (const way of ['http', 'webSocket'] as const) {
      const world = new World()
      let opened = 0
      function* walk(): Found<number> {
        opened++
        for (let i = 0; i < BLOCKS; i++) {
          yield* reading(() => getBlock(world.blocks, world.block(i)))
          yield i
        }
      }
      const row = listMethod({
        ...{ name: 'Numbers', perm: 'read', cost: 'scan', params: [], result: listOrEmpty(uint) },
        list: () => listing(uint, walk),
      })
      const all = JSON.stringify(Array.from({ length: BLOCKS }, (_, i) => i))
      expect(await ask(world, row)[way]()).toBe(`{"id":1,"jsonrpc":"2.0","result":${all}}`)
      expect([opened, world.fetches]).toEqual([1, BLOCKS])
    }
  })

  it('ends where nobody has a block: at its beginning with the error, later with the connection', async () => {
    const early = new World()
    expect(
      await ask(
        early,
        rowOf(early, () => false),
      ).http(),
    ).toContain('ipld: could not find')
    const late = new World()
    await expect(
      ask(
        late,
        rowOf(late, (at) => at < BLOCKS - 1),
      ).http(),
    ).rejects.toThrow('ipld: could not find')
  })
})
