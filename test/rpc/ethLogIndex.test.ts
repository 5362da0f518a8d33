/** The index of logs answers as a walk over the head's chain does, whatever is asked and however the head moves. */
import { expect, it } from 'vitest'
import { finish, type Steps } from '../../src/base/steps.ts'
import { CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { EthLogIndex } from '../../src/rpc/ethLogIndex.ts'
import type { LogJson } from '../../src/rpc/types/eth.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { seeded } from '../support/seeded.ts'

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
    const logs = Array.from({ length: count }, (_, i) => ({ json: { at: `${key} ${i}` } }) as unknown as LogJson)
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
    head: () => head.tipset,
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
    const found = await index.between(from, to, call)
    expect(
      found.flatMap(({ logs }) => logs.map((log) => log.json)),
      `seed ${random.seed}, round ${round}`,
    ).toEqual(walk(from, to))
  }
  // What was asked before is not looked at again.
  const [all, before] = [head.tipset.height - 1, looked]
  await index.between(0, all, call)
  const after = looked
  await index.between(0, all, call)
  expect(looked).toBe(after)
  expect(after - before).toBeLessThan(60)
})
