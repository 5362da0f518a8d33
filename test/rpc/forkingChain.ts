/** A chain of bare headers that grows and forks, with a log or an event in each tipset that tells it from all others. */
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish } from '../../src/base/steps.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import type { JsonContext } from '../../src/codec/description.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import type { EthBlock } from '../../src/eth/ethBlock.ts'
import { ethBlockHash } from '../../src/eth/ethIndex.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import type { EthReader } from '../../src/rpc/ethReader.ts'
import type { CallContext } from '../../src/rpc/method.ts'
import { hexBytes } from '../../src/rpc/types/ethScalars.ts'
import { createTipset, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { silentLog } from './stubTable.ts'

export const JSON_CONTEXT: JsonContext = { addressPrefix: 't' }
const ADDRESS = new Uint8Array(20).fill(7)

/** Of the main part of the event loop one turn: what waits for nothing else has been done. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

/** A store whose head is at a height. `on` makes the next tipset of a branch. */
export function forkingChain(height: number): { store: ChainStore; on: (parent: Tipset, count?: number) => Tipset } {
  const store = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: silentLog })
  store.setGenesis(header(undefined, 0, 0))
  let salt = 0
  const on = (parent: Tipset, count = 1): Tipset => {
    let tipset = parent
    for (let i = 0; i < count; i++) {
      const block = header(tipset, tipset.height + 1, salt++)
      store.putHeader(block)
      tipset = createTipset([block])
    }
    return tipset
  }
  store.setHead(on(store.genesis(), height))
  return { store, on }
}

/** A block with so many logs in one message. */
export function loggedBlock(tipset: Tipset, logs = 1): EthBlock {
  const log = { emitter: 1n, address: ADDRESS, topics: [], data: new Uint8Array(1), isIndexed: true }
  return {
    tipset,
    messages: [],
    hash: () => new Uint8Array(32),
    logs: () => [Array.from({ length: logs }, (_, logIndex) => ({ ...log, logIndex }))],
    bloom: () => new Uint8Array(256),
  } as unknown as EthBlock
}

/** A reader of such blocks. */
export function loggedReader(store: ChainStore, block: (tipset: Tipset) => Promise<EthBlock>): EthReader {
  return { view: { store }, block, logged: block, chainId: 1n } as unknown as EthReader
}

/** A call over HTTP, say, that nobody gives up. */
export function plainCall(over: Partial<CallContext> = {}): CallContext {
  const { signal } = new AbortController()
  return { walk: finish, signal, ended: signal, json: JSON_CONTEXT, ...over } as unknown as CallContext
}

/** Logs in short: whether they came or went, and of which tipset. */
export function inShort(logs: readonly Json[]): string[] {
  return (logs as { removed: boolean; blockHash: string }[]).map((log) => (log.removed ? '-' : '+') + log.blockHash)
}

/** How {@link inShort} tells the log of each tipset. */
export function logged(tipsets: readonly Tipset[], sign: '+' | '-' = '+'): string[] {
  return tipsets.map((tipset) => sign + hexBytes(ethBlockHash(tipset)))
}

/** Tipsets of a head's chain between two heights, both inclusive. */
export function between(store: ChainStore, head: Tipset, from: number, to: number): Tipset[] {
  return Array.from({ length: to - from + 1 }, (_, i) => store.tipsetByHeight(from + i, head, 'next'))
}
