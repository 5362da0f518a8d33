/** An archive of another chain is refused; one that leaves out old headers proves nothing. */
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { Pace } from '../../src/base/pace.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { provesDescent } from '../../src/chain/descent.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { MemoryBlockstore, putCbor } from '../../src/ipld/blockstore.ts'
import { type BlockHeader, blockHeader, headerCid } from '../../src/types/blockHeader.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from './buildChain.ts'

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const DELAY = 30

/** A chain of single blocks; `salt` makes another genesis, `offset` another clock. */
function chainOf(length: number, salt: number, offset = 0): { tipsets: Tipset[]; headers: BlockHeader[] } {
  const tipsets: Tipset[] = []
  const headers: BlockHeader[] = []
  for (let height = 0; height < length; height++) {
    const one = { ...header(tipsets.at(-1), height, salt), timestamp: 1000 + offset + height * DELAY }
    headers.push(one)
    tipsets.push(createTipset([one]))
  }
  return { tipsets, headers }
}

function open(
  headers: readonly BlockHeader[],
  genesis: BlockHeader,
  roots = [headerCid(headers.at(-1) as BlockHeader)],
) {
  const blocks = new MemoryBlockstore()
  // Built-in networks bring the header of their genesis with them.
  for (const one of [genesis, ...headers]) putCbor(blocks, blockHeader, one)
  const meta = new MemoryStore()
  const chain = { blocks, meta, log, roots, genesis: headerCid(genesis), blockDelaySecs: DELAY }
  return { open: () => openChain(chain), meta, blocks }
}

describe('openChain', () => {
  const own = chainOf(50, 1)

  it('opens the chain of the genesis', () => {
    expect(
      open(own.headers, own.headers[0] as BlockHeader)
        .open()
        .head().height,
    ).toBe(49)
  })

  it.each([
    ['another clock', chainOf(50, 2, 5)],
    ['the same clock', chainOf(50, 2)],
  ])('refuses the chain of another genesis with %s, and keeps nothing of it', (_, other) => {
    const { open: attempt, meta } = open(other.headers, own.headers[0] as BlockHeader)
    expect(attempt).toThrow(expect.objectContaining({ code: 'OTHER_CHAIN' }))
    expect([...meta.keys()]).toEqual([])
  })

  it('goes on with the chain that is kept, under its own genesis alone', () => {
    const first = open(own.headers, own.headers[0] as BlockHeader)
    first.open()
    const kept = [...first.meta.keys()].map((key) => first.meta.get(key))
    const other = chainOf(50, 2).headers[0] as BlockHeader
    const { blocks } = first
    putCbor(blocks, blockHeader, other)
    const again = (genesis: BlockHeader) => () =>
      openChain({ blocks, meta: first.meta, log, roots: [], genesis: headerCid(genesis), blockDelaySecs: DELAY })
    expect(again(other)).toThrow(expect.objectContaining({ code: 'OTHER_CHAIN' }))
    expect([...first.meta.keys()].map((key) => first.meta.get(key))).toEqual(kept)
    expect(again(own.headers[0] as BlockHeader)().head().height).toBe(49)
  })

  it('opens one that leaves out old headers, if its clock is right', () => {
    expect(
      open(own.headers.slice(20), own.headers[0] as BlockHeader)
        .open()
        .head().height,
    ).toBe(49)
    const other = chainOf(50, 2, 5)
    expect(open(other.headers.slice(20), own.headers[0] as BlockHeader).open).toThrow(/its time is 2475, expected 2470/)
  })
})

describe('the way down', () => {
  const store = (headers: readonly BlockHeader[], genesis: BlockHeader): ChainStore => {
    const chain = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log })
    for (const one of headers) chain.putHeader(one)
    chain.setGenesis(genesis)
    return chain
  }
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const pace = new Pace(clock, { setTimeout: () => () => undefined }, 1)
  const { signal } = new AbortController()

  it('proves, refuses, or says that it cannot', async () => {
    const own = chainOf(350, 1)
    const other = chainOf(350, 2)
    const genesis = own.headers[0] as BlockHeader
    const head = own.tipsets.at(-1) as Tipset
    expect(await provesDescent(store(own.headers, genesis), head, pace, signal)).toBe(true)
    expect(await provesDescent(store(own.headers.slice(120), genesis), head, pace, signal)).toBe(false)
    const foreign = store([...other.headers, genesis], genesis)
    await expect(provesDescent(foreign, other.tipsets.at(-1) as Tipset, pace, signal)).rejects.toMatchObject({
      code: 'OTHER_CHAIN',
    })
  })
})
