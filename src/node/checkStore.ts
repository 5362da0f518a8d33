/**
 * A look through all of a chain's store: every block against its CID, the headers from the head down, the state that the head
 * starts from, our own messages. Changes nothing.
 */
import type { KeyValueStore, Logger } from '../base/ports.ts'
import { ChainStore } from '../chain/chainStore.ts'
import type { Cid } from '../codec/cid.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import type { CollectableBlocks } from '../ipld/collectable.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { isBlockOf } from '../ipld/verifyBlock.ts'
import { isBlockLink, walkDag } from '../ipld/walkDag.ts'
import { LocalMessages } from '../mempool/localMessages.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock } from '../types/tipset.ts'

/** What is looked through. */
export interface CheckedStore {
  /** The node's own blocks. */
  readonly own: CollectableBlocks
  /** All that the node reads: its own, and what lies below. */
  readonly blocks: Blockstore
  readonly meta: KeyValueStore
  readonly log: Logger
  /** Names of actors' code: where actors are native nothing stands behind them. */
  readonly isCode: (cid: Cid) => boolean
}

/** What was found of the blocks. */
export interface BlocksReport {
  /** Own blocks, and their bytes. */
  readonly blocks: number
  readonly bytes: number
  /** Own blocks that are not what their CIDs say: the first {@link MAX_NAMED}. */
  readonly damaged: readonly Cid[]
  readonly damagedCount: number
}

/** What was found. */
export interface StoreReport extends BlocksReport {
  /** undefined: there is no chain yet. */
  readonly chain: CheckedChain | undefined
  /** Messages of this node's that are kept. */
  readonly messages: number
}

/** The chain of the head. */
export interface CheckedChain {
  readonly head: ChainEpoch
  /** How far down its headers are there without a gap. */
  readonly lowest: ChainEpoch
  readonly genesis: ChainEpoch
  /** Blocks of the state that the head starts from. */
  readonly stateBlocks: number
  /** The first block of that state that is not there: in a node of headers that is as it should be. */
  readonly missing: Cid | undefined
}

/** Blocks that are named one by one. */
const MAX_NAMED = 100
const SCANNED_AT_ONCE = 1024

/** Every block against its CID. @param onProgress - now and then: blocks seen so far */
export function checkBlocks(own: CollectableBlocks, onProgress: (blocks: number) => void): BlocksReport {
  const damaged: Cid[] = []
  let damagedCount = 0
  let blocks = 0
  let bytes = 0
  let after: Cid | undefined
  for (;;) {
    const cids = own.scan(after, SCANNED_AT_ONCE)
    for (const cid of cids) {
      const data = own.get(cid)
      if (data === undefined) continue
      blocks++
      bytes += data.length
      if (isBlockOf(cid, data)) continue
      damagedCount++
      if (damaged.length < MAX_NAMED) damaged.push(cid)
    }
    onProgress(blocks)
    after = cids.at(-1)
    if (cids.length < SCANNED_AT_ONCE) break
  }
  return { blocks, bytes, damaged, damagedCount }
}

/**
 * @param onProgress - now and then: own blocks seen so far
 * @throws MempoolError `STORED_MESSAGE_INVALID`; CodecError, ChainError where head or headers are no such thing
 */
export function checkStore(checked: CheckedStore, onProgress: (blocks: number) => void = () => undefined): StoreReport {
  const { own, meta } = checked
  const blocks = checkBlocks(own, onProgress)
  const messages = [...new LocalMessages(meta).load()].length
  return { ...blocks, chain: checkChain(checked), messages }
}

function checkChain({ blocks, meta, log, isCode }: CheckedStore): CheckedChain | undefined {
  const store = new ChainStore({ blocks, meta, log })
  if (!store.load()) return undefined
  const head = store.head()
  let lowest = head
  try {
    while (lowest.height > 0) lowest = store.parent(lowest)
  } catch (error) {
    if (!(error instanceof BlockMissing)) throw error
  }
  let stateBlocks = 0
  let missing: Cid | undefined
  try {
    walkDag(blocks, firstBlock(head).parentStateRoot, () => void stateBlocks++, {
      follow: (cid) => isBlockLink(cid) && !isCode(cid),
    })
  } catch (error) {
    if (!(error instanceof BlockMissing)) throw error
    missing = error.cids[0]
  }
  return { head: head.height, lowest: lowest.height, genesis: store.genesis().height, stateBlocks, missing }
}
