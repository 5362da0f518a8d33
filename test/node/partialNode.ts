/** A node with the headers and messages of another's chain, and none of its state: that is fetched from the other when it is missed. */
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { BlockMessageReader, storeBlockMessages } from '../../src/chain/blockMessages.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { type BlockEdge, BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { MemoryBlockstore, tryGetBlock } from '../../src/ipld/blockstore.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import type { DevnetNode } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'

export interface PartialNode {
  readonly view: ChainView
  readonly edge: BlockEdge
  /** How often blocks were fetched. */
  readonly fetches: () => number
  /** Hears of each fetch as it begins; to be set. */
  readonly hooks: { onFetch: () => void }
  /** Takes headers and messages of the other's tipsets; the last is the head. */
  readonly follow: (tipsets: readonly Tipset[]) => void
}

export function partialNode(theirs: DevnetNode): PartialNode {
  const blocks = new MemoryBlockstore()
  const store = new ChainStore({ blocks, meta: new MemoryStore(), log: silentLog })
  store.setGenesis(firstBlock(theirs.store.genesis()))
  const view = new ChainView({ store, network: theirs.plan.network, beaconRound: mockBeacon.roundAt })
  let fetches = 0
  const hooks = { onFetch: (): void => undefined }
  const { run: edge } = new BlockFetcher(blocks, [
    {
      fetch: async (cids, signal) => {
        fetches++
        hooks.onFetch()
        await Promise.resolve()
        signal?.throwIfAborted()
        return cids.map((cid) => [cid, tryGetBlock(theirs.store.blocks, cid) as Uint8Array] as const)
      },
    },
  ])
  const reader = new BlockMessageReader(theirs.store.blocks)
  const follow = (tipsets: readonly Tipset[]): void => {
    for (const header of tipsets.flatMap((tipset) => tipset.blocks)) {
      store.putHeader(header)
      storeBlockMessages(blocks, reader.messages(header))
    }
    store.setHead(tipsets.at(-1) as Tipset)
  }
  return { view, edge, fetches: () => fetches, hooks, follow }
}
