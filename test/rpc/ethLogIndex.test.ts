/** The index of logs answers as a walk over the head's chain does, whatever is asked and however the head moves. */
import { describe, expect, it } from 'vitest'
import { MAX_SEARCHED_LOG_BYTES } from '../../src/base/bounds.ts'
import { finish, type Steps } from '../../src/base/steps.ts'
import { CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { EthLogIndex } from '../../src/rpc/ethLogIndex.ts'
import type { LogJson } from '../../src/rpc/types/eth.ts'
import { createTipset, type Tipset, tipsetKeyText } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { seeded } from '../support/seeded.ts'
import { between, forkingChain, plainCall } from './forkingChain.ts'

function log(at: string, more: { readonly data?: string } = {}): LogJson {
  return { topicTexts: [], json: { at, ...more } } as unknown as LogJson
}

interface Block {
  readonly tipset: Tipset
  readonly parent: Block | undefined
  readonly logs: readonly LogJson[]
}

it('equals a walk', async () => {
  const random = seeded('index of logs')
  const blocks = new Map<string, Block>()
  const add = (parent: Block | undefined, height: number): Block => {
    const digest = new Uint8Array(32)
    new DataView(digest.buffer).setUint32(0, blocks.size + 1)
    const key = createCid(CODEC_DAG_CBOR, HASH_BLAKE2B_256, digest)
    // Every third has logs.
    const count = random.int(3) === 0 ? 1 + random.int(3) : 0
    const logs = Array.from({ length: count }, (_, i) => log(`${key} ${i}`))
    const block = { tipset: { key: [key], blocks: [], height }, parent, logs }
    blocks.set(key.key, block)
    return block
  }
  const blockOf = (tipset: Tipset): Block => blocks.get(tipset.key[0]?.key ?? '') as Block
  let head = add(undefined, 0)
  const grow = (by: number): void => {
    for (let i = 0; i < by; i++) head = add(head, head.tipset.height + 1 + (random.int(5) === 0 ? random.int(3) : 0))
  }
  const below = (depth: number): Block => {
    let block = head
    for (let i = 0; i < depth && block.parent !== undefined; i++) block = block.parent
    return block
  }
  const store = {
    tipset: ([cid]: Tipset['key']) => (blocks.get(cid?.key ?? '') as Block).tipset,
    parent: (tipset: Tipset) => (blockOf(tipset).parent as Block).tipset,
    tipsetByHeight: (height: number, from: Tipset | undefined, nullRound: 'previous' | 'next') => {
      let block = from === undefined ? head : blockOf(from)
      let above = block
      while (block.tipset.height > height && block.parent !== undefined) {
        above = block
        block = block.parent
      }
      return block.tipset.height === height || nullRound === 'previous' ? block.tipset : above.tipset
    },
  }
  function* steps(height: number, from: Tipset | undefined, nullRound: 'previous' | 'next'): Steps<Tipset> {
    yield
    return store.tipsetByHeight(height, from, nullRound)
  }
  const call = { walk: finish, signal: new AbortController().signal }
  let looked = 0
  const index = new EthLogIndex({
    store: { ...store, findByHeight: steps },
    logs: async (tipset) => {
      looked++
      await Promise.resolve()
      return blockOf(tipset).logs
    },
  })
  const walk = (from: number, to: number): unknown[] => {
    const out: unknown[] = []
    for (let block = head.parent; block !== undefined; block = block.parent) {
      if (block.tipset.height >= from && block.tipset.height <= to) out.unshift(...block.logs.map((log) => log.json))
    }
    return out
  }

  grow(60)
  for (let round = 0; round < 300; round++) {
    const what = random.int(4)
    if (what === 0) grow(1 + random.int(4))
    if (what === 1) {
      head = below(random.int(8))
      grow(1 + random.int(8))
    }
    const from = random.int(head.tipset.height)
    const to = from + random.int(head.tipset.height - from)
    const found: unknown[] = []
    await index.between({ head: head.tipset, from, to }, call, (logs) => found.push(...logs.map(({ json }) => json)))
    expect(found, `seed ${random.seed}, round ${round}`).toEqual(walk(from, to))
  }
  // What was asked before is not looked at again.
  const [all, before] = [{ head: head.tipset, from: 0, to: head.tipset.height - 1 }, looked]
  await index.between(all, call, () => undefined)
  const after = looked
  await index.between(all, call, () => undefined)
  expect(looked).toBe(after)
  expect(after - before).toBeLessThan(60)
})

/** An index over a real store each of whose tipsets has a log; `reads` says when it is read, `data` what it carries. */
function indexed(height: number, reads: (tipset: Tipset) => Promise<void> = async () => undefined, data = '') {
  const chain = forkingChain(height)
  const index = new EthLogIndex({
    store: chain.store,
    logs: async (tipset) => {
      await reads(tipset)
      return [log(tipsetKeyText(tipset.key), { data })]
    },
  })
  const ask = async (head: Tipset, from: number, to: number, call = plainCall()): Promise<string[]> => {
    const found: string[] = []
    await index.between({ head, from, to }, call, (logs) => found.push(...logs.map(({ json: { at } }) => String(at))))
    return found
  }
  const walked = (head: Tipset, from: number, to: number): string[] =>
    between(chain.store, head, from, to).map(({ key }) => tipsetKeyText(key))
  return { ...chain, index, ask, walked }
}

it('reads nothing for null rounds', async () => {
  const reads: number[] = []
  const { store, ask } = indexed(20, async ({ height }) => void reads.push(height))
  const block = header(store.head(), 25, 0)
  store.putHeader(block)
  const above = createTipset([block])
  expect(await ask(above, 21, 24)).toEqual([])
  expect(reads).toEqual([])
  expect(await ask(above, 20, 24)).toHaveLength(1)
  expect(reads).toEqual([20])
})

it('begins to fetch what comes next, each once and not all at once', async () => {
  const { store } = forkingChain(40)
  const events: string[] = []
  const index = new EthLogIndex({
    store,
    ahead: ({ height }) => void events.push(`ahead ${height}`),
    logs: async ({ height }) => {
      events.push(`read ${height}`)
      return []
    },
  })
  await index.between({ head: store.head(), from: 5, to: 39 }, plainCall(), () => undefined)
  const [read, ahead] = ['read', 'ahead'].map((what) => events.filter((event) => event.startsWith(what)))
  // The highest, then the others from there down.
  const heights = Array.from({ length: 35 }, (_, i) => 39 - i)
  expect(read).toEqual(heights.map((height) => `read ${height}`))
  expect(ahead).toEqual(heights.map((height) => `ahead ${height}`))
  for (const height of heights.slice(1)) {
    const before = events.slice(0, events.indexOf(`read ${height}`))
    const under = before.filter((event) => event.startsWith('ahead')).length - (39 - height)
    expect(under).toBeGreaterThan(0)
    expect(under).toBeLessThanOrEqual(8)
  }
})

describe('logs worth more than what is kept', () => {
  // A tenth of it each: ten tipsets are too many, since a log is more than its data.
  const data = 'x'.repeat(MAX_SEARCHED_LOG_BYTES / 10)

  it('are answered whole; what is kept stays below its bound, and is the newest', async () => {
    const reads: number[] = []
    const { store, on, index, ask, walked } = indexed(100, async ({ height }) => void reads.push(height), data)
    let head = store.head()
    let most = 0
    for (const [from, to] of [
      [1, 99],
      [1, 99],
      [60, 99],
      [40, 60],
      [95, 99],
    ] as const) {
      expect(await ask(head, from, to)).toEqual(walked(head, from, to))
      most = Math.max(most, index.bytes)
    }
    expect(most).toBeLessThanOrEqual(MAX_SEARCHED_LOG_BYTES)
    expect(most).toBeGreaterThan(MAX_SEARCHED_LOG_BYTES / 2)
    reads.length = 0
    expect(await ask(head, 92, 99)).toEqual(walked(head, 92, 99))
    expect(reads).toEqual([])
    for (let grown = 0; grown < 20; grown++) {
      head = on(head)
      expect(await ask(head, head.height - 5, head.height - 1)).toEqual(walked(head, head.height - 5, head.height - 1))
      expect(index.bytes).toBeLessThanOrEqual(MAX_SEARCHED_LOG_BYTES)
    }
    expect(reads).toEqual(Array.from({ length: 20 }, (_, i) => 100 + i))
  })

  it('of one tipset are kept, and no others', async () => {
    const { store, on, index, ask, walked } = indexed(20, undefined, data.repeat(11))
    const head = store.head()
    expect(await ask(head, 10, 19)).toEqual(walked(head, 10, 19))
    expect(index.bytes).toBeLessThan(MAX_SEARCHED_LOG_BYTES * 1.2)
    const fork = on(on(store.tipsetByHeight(15, head, 'next')), 3)
    expect(await ask(fork, 10, 18)).toEqual(walked(fork, 10, 18))
    expect(index.bytes).toBeLessThan(MAX_SEARCHED_LOG_BYTES * 1.2)
  })

  it('keep nobody waiting who asks for others', async () => {
    const goOn = Promise.withResolvers<void>()
    const { store, ask, walked } = indexed(500, async ({ height }) => (height < 300 ? goOn.promise : undefined), data)
    const head = store.head()
    const long = ask(head, 200, 499)
    expect(await ask(head, 350, 499)).toEqual(walked(head, 350, 499))
    goOn.resolve()
    expect(await long).toEqual(walked(head, 200, 499))
  })
})

describe('the head moves while a search waits for its turn', () => {
  it('an answer is of one chain, that of the head when it was asked, and so is what is kept', async () => {
    const { store, on, ask, walked } = indexed(10)
    const fork = store.head()
    const [left, right] = [on(fork, 3), on(fork, 5)]
    store.setHead(left)
    await ask(left, 9, 12)
    store.setHead(right)
    const goOn = Promise.withResolvers<void>()
    const walk = async <T>(steps: Steps<T>): Promise<T> => {
      await goOn.promise
      return finish(steps)
    }
    const given = ask(right, 9, 14, plainCall({ walk }))
    store.setHead(left)
    goOn.resolve()
    expect(await given).toEqual(walked(right, 9, 14))
    expect(await ask(left, 9, 12)).toEqual(walked(left, 9, 12))
    expect(await ask(right, 9, 14)).toEqual(walked(right, 9, 14))
  })

  it('a search of a head that others have grown on reads nothing again, and drops nothing', async () => {
    let reads = 0
    const { store, on, ask, walked } = indexed(10, async () => void reads++)
    const old = store.head()
    const head = on(old, 3)
    await ask(head, 5, 12)
    const before = reads
    expect(await ask(old, 5, 9)).toEqual(walked(old, 5, 9))
    expect(await ask(head, 5, 12)).toEqual(walked(head, 5, 12))
    expect(reads).toBe(before)
  })
})

describe('searches of strangers', () => {
  it('far below keep nobody waiting, and what is near the head stays known', async () => {
    const goOn = Promise.withResolvers<void>()
    let reads = 0
    const { store, on, ask, walked } = indexed(6_000, async ({ height }) => {
      if (height < 1_000) await goOn.promise
      else reads++
    })
    const old = store.head()
    await ask(old, 5_900, 5_999)
    const strangers = [ask(old, 1, 20), ask(old, 30, 50)]
    const head = on(old)
    const before = reads
    expect(await ask(head, 5_900, 6_000)).toEqual(walked(head, 5_900, 6_000))
    expect(reads - before).toBe(1)
    goOn.resolve()
    expect(await Promise.all(strangers)).toEqual([walked(old, 1, 20), walked(old, 30, 50)])
  })

  it('that are long keep those of the last epochs from waiting', async () => {
    const goOn = Promise.withResolvers<void>()
    const { store, ask, walked } = indexed(500, async ({ height }) => {
      if (height < 400) await goOn.promise
    })
    const head = store.head()
    const long = ask(head, 100, 499)
    expect(await ask(head, 490, 499)).toEqual(walked(head, 490, 499))
    goOn.resolve()
    expect(await long).toEqual(walked(head, 100, 499))
  })
})
