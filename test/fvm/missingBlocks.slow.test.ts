/** A block that is missing in the middle of an execution restarts it, with nothing half applied. */
import { describe, expect, it } from 'vitest'
import { BlockMessageReader } from '../../src/chain/blockMessages.ts'
import { type Cid, cidFromBytes } from '../../src/codec/cid.ts'
import { executeTipset } from '../../src/execution/executeTipset.ts'
import { Executor } from '../../src/fvm/executor.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { type BlockSource, withBlocks } from '../../src/ipld/withBlocks.ts'
import type { Message } from '../../src/types/message.ts'
import { EvmMethod } from '../../src/types/methodNumbers.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { missingShared } from '../support/shared.ts'
import { missingActors, wasmActors } from './support/actorCode.ts'
import { executionDeps, type GoldenChain, openGoldenChain } from './support/goldenChain.ts'

const CHAIN = 'nv28'
/** The first tipsets with so many messages, a contract's among them. */
const MESSAGES = 3
const TIPSETS = 3

/** Reads go to `base` and are noted. */
class NotingStore implements Blockstore {
  readonly read = new Map<string, Uint8Array>()
  readonly #base: Blockstore

  constructor(base: Blockstore) {
    this.#base = base
  }

  get(cid: Cid): Uint8Array | undefined {
    const data = this.#base.get(cid)
    if (data !== undefined) this.read.set(cid.key, data)
    return data
  }

  has(cid: Cid): boolean {
    return this.get(cid) !== undefined
  }

  put(): void {}
}

function execute(golden: GoldenChain, tipset: Tipset, store: Blockstore): { stateRoot: Cid; receiptsRoot: Cid } {
  const reader = new BlockMessageReader(golden.store)
  const result = executeTipset(executionDeps(golden, tipset, wasmActors(golden.bundles, 28), store), {
    tipset,
    parentEpoch: golden.chain.parent(tipset).height,
    parentState: firstBlock(tipset).parentStateRoot,
    messages: tipset.blocks.map((block) => reader.messages(block)),
    tracing: false,
  })
  if (result === undefined) throw new Error('execution was ended')
  return result
}

function messagesOf(golden: GoldenChain, tipset: Tipset): Message[] {
  const reader = new BlockMessageReader(golden.store)
  return tipset.blocks.flatMap((block) => {
    const { bls, signed } = reader.messages(block)
    return [...bls, ...signed.map((entry) => entry.message)]
  })
}

/** Indices of {@link TIPSETS} tipsets. */
function busyTipsets(golden: GoldenChain): number[] {
  const busy: number[] = []
  for (let i = 0; i < golden.tipsets.length && busy.length < TIPSETS; i++) {
    const messages = messagesOf(golden, golden.tipsets[i] as Tipset)
    if (messages.length >= MESSAGES && messages.some(({ method }) => method === EvmMethod.InvokeContract)) busy.push(i)
  }
  return busy
}

/** Answers later, one block at a time. */
function slowSource(blocks: ReadonlyMap<string, Uint8Array>): BlockSource & { fetched: number } {
  return {
    fetched: 0,
    async fetch(cids) {
      await new Promise((resolve) => setImmediate(resolve))
      this.fetched += cids.length
      return cids.flatMap((cid) => {
        const data = blocks.get(cid.key)
        return data === undefined ? [] : [[cid, data] as const]
      })
    },
  }
}

function storeOf(blocks: ReadonlyMap<string, Uint8Array>, without?: string): MemoryBlockstore {
  const store = new MemoryBlockstore()
  for (const [key, data] of blocks) if (key !== without) store.put(cidFromBytes(Buffer.from(key, 'latin1')), data)
  return store
}

/** Takes away each block that an execution reads, then all of them. @returns how many */
async function checkTipset(golden: GoldenChain, index: number): Promise<number> {
  const tipset = golden.tipsets[index] as Tipset
  const next = firstBlock(golden.tipsets[index + 1] as Tipset)
  // Once for the manifest, which is kept in memory.
  execute(golden, tipset, new LayeredBlockstore([new MemoryBlockstore(), golden.archive]))
  // The whole of what this execution reads; nothing of it is in a node cache.
  const noting = new NotingStore(golden.archive)
  execute(golden, tipset, new LayeredBlockstore([new MemoryBlockstore(), noting]))
  const blocks = noting.read
  for (const key of blocks.keys()) {
    const source = slowSource(blocks)
    const { stateRoot, receiptsRoot } = await withBlocks(
      { store: storeOf(blocks, key), sources: [source] },
      (layered) => execute(golden, tipset, layered),
    )
    expect(String(stateRoot)).toBe(String(next.parentStateRoot))
    expect(String(receiptsRoot)).toBe(String(next.parentMessageReceipts))
    expect(source.fetched).toBe(1)
  }
  const source = slowSource(blocks)
  const cold = await withBlocks({ store: new MemoryBlockstore(), sources: [source] }, (layered) =>
    execute(golden, tipset, layered),
  )
  expect(String(cold.stateRoot)).toBe(String(next.parentStateRoot))
  expect(source.fetched).toBe(blocks.size)
  return blocks.size
}

describe('missing blocks', () => {
  const missing = missingShared(`data/golden/${CHAIN}`)
  it.skipIf(missing !== undefined)('every block in turn, and all of them', { timeout: 600_000 }, async ({ skip }) => {
    const golden = openGoldenChain(CHAIN)
    const noActors = missingActors(golden.network)
    skip(noActors !== undefined, noActors)
    let removed = 0
    for (const index of busyTipsets(golden)) removed += await checkTipset(golden, index)
    expect(removed).toBeGreaterThan(60)
  })

  it.skipIf(missing !== undefined)('leave the machine as it was before the message', ({ skip }) => {
    const golden = openGoldenChain(CHAIN)
    const noActors = missingActors(golden.network)
    skip(noActors !== undefined, noActors)
    const tipset = golden.tipsets[busyTipsets(golden)[0] as number] as Tipset
    const block = firstBlock(tipset)
    const [message] = messagesOf(golden, tipset)
    if (message === undefined) throw new Error('the tipset has no message')
    const noting = new NotingStore(golden.archive)
    const hidden = new Set<string>()
    const store: Blockstore = {
      get: (cid) => (hidden.has(cid.key) ? undefined : noting.get(cid)),
      has: (cid) => !hidden.has(cid.key) && noting.has(cid),
      put: () => {},
    }
    const deps = executionDeps(golden, tipset, wasmActors(golden.bundles, 28), store)
    const context = {
      networkVersion: 28,
      epoch: tipset.height,
      timestamp: block.timestamp,
      baseFee: block.parentBaseFee,
      circulatingSupply: 0n,
      chainId: BigInt(golden.network.chainId),
      stateRoot: block.parentStateRoot,
      tracing: false,
      actorDebugging: false,
    }
    const whole = new Executor(context, deps)
    const before = noting.read.size
    whole.applyMessage(message, 'explicit', 500)
    const root = String(whole.machine.state.flush())
    const reads = [...noting.read.keys()].slice(before)
    expect(reads.length).toBeGreaterThan(0)
    for (const key of reads) {
      const executor = new Executor(context, deps)
      hidden.add(key)
      expect(() => executor.applyMessage(message, 'explicit', 500)).toThrow(BlockMissing)
      hidden.clear()
      // The same machine, once more.
      executor.applyMessage(message, 'explicit', 500)
      expect(String(executor.machine.state.flush())).toBe(root)
    }
  })
})
