/** Puts a local chain's genesis into a chain store, or checks that the chain that is in it is this one. */
import { createGenesisBlock } from '../actors/genesis/block.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import { type Blockstore, MemoryBlockstore } from '../ipld/blockstore.ts'
import { type BlockHeader, headerCid } from '../types/blockHeader.ts'
import { firstBlock } from '../types/tipset.ts'
import { DevnetError } from './errors.ts'
import type { DevnetPlan } from './plan.ts'

/** Writes the genesis of a local chain that begins now. @param nowSec - as of {@link openDevnetChain} */
export function createDevnetGenesis(blocks: Blockstore, plan: DevnetPlan, nowSec: number): BlockHeader {
  const timestamp = plan.options.genesisTimestamp ?? nowSec - plan.network.blockDelaySecs
  return createGenesisBlock(blocks, plan.genesis(timestamp))
}

/**
 * @param nowSec - Unix time, seconds; a new chain's first block is due then unless the options say another genesis
 * @returns the genesis block
 * @throws DevnetError `OTHER_CHAIN` when the store has a chain made by other options
 */
export function openDevnetChain(store: ChainStore, plan: DevnetPlan, nowSec: number): BlockHeader {
  if (!store.load()) {
    const header = createDevnetGenesis(store.blocks, plan, nowSec)
    store.setGenesis(header)
    return header
  }
  const kept = firstBlock(store.genesis())
  const own = createGenesisBlock(new MemoryBlockstore(), plan.genesis(kept.timestamp))
  if (!headerCid(own).equals(headerCid(kept))) {
    throw new DevnetError(
      'OTHER_CHAIN',
      'Cannot start devnet: the kept chain was made with another seed, other accounts or another number of miners; ' +
        'use the same options or another folder',
      { kept: headerCid(kept).toString(), own: headerCid(own).toString() },
    )
  }
  return kept
}
