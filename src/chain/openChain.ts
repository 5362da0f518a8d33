/**
 * Opens a chain over an archive: head and genesis from what an earlier run kept, else from the archive's roots.
 * @see lotus chain/store/snapshot.go Import; FRC-0108
 */
import { CborReader } from '../codec/cborReader.ts'
import { type Cid, CODEC_DAG_CBOR } from '../codec/cid.ts'
import { type Blockstore, getBlock, hasBlock } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import { ChainStore, type ChainStoreDeps, keptGenesis } from './chainStore.ts'
import { assertClock, assertGenesis, assertKeptGenesis, DESCENT_AT_ONCE, followParents } from './descent.ts'
import { ChainError } from './errors.ts'

/** CBOR major type of a map: the first block of a version 2 snapshot. */
const MAJOR_MAP = 5
const HEAD_FIELD = 'HeadTipsetKey'

/** What {@link openChain} takes. */
export interface OpenChainOptions extends ChainStoreDeps {
  /** Roots of the archive; none: what an earlier run kept, else a chain of the genesis alone. */
  readonly roots: readonly Cid[]
  /** CID of the genesis block where it is known; otherwise the headers are followed down to height 0. */
  readonly genesis?: Cid
  /** Seconds between epochs, where the genesis is known: a head with another clock is another chain's. */
  readonly blockDelaySecs?: number
}

/**
 * The key of the head tipset that an archive's roots name: the roots themselves, or for a version 2 snapshot the
 * `HeadTipsetKey` of the map that the single root is.
 */
export function headKeyOf(store: Blockstore, roots: readonly Cid[]): Cid[] {
  const root = roots[0]
  if (roots.length !== 1 || root === undefined || root.codec !== CODEC_DAG_CBOR) return [...roots]
  const reader = new CborReader(getBlock(store, root))
  if (reader.peekMajor() !== MAJOR_MAP) return [...roots]
  const fields = reader.readMap()
  for (let i = 0; i < fields; i++) {
    if (reader.readText() !== HEAD_FIELD) {
      reader.skip()
      continue
    }
    const length = reader.readArray()
    return Array.from({ length }, () => reader.readCid())
  }
  throw new ChainError('TIPSET_INVALID', `Cannot open snapshot: its metadata has no ${HEAD_FIELD}`)
}

/** Follows parents to the genesis block. */
function findGenesis(store: ChainStore, head: Tipset): Tipset {
  let tipset = head
  while (tipset.height > 0) tipset = store.parent(tipset)
  return tipset
}

/** Headers that an archive leaves out prove nothing, and refuse nothing. */
function assertDescent(store: ChainStore, head: Tipset, genesis: BlockHeader): void {
  try {
    followParents(store, head, genesis, firstBlock(head), DESCENT_AT_ONCE)
  } catch (error) {
    if (!(error instanceof BlockMissing)) throw error
  }
}

/**
 * @throws ChainError `NO_HEAD` when nothing names a head; `OTHER_CHAIN` when the kept chain or the archive's does not descend from the
 * genesis; BlockMissing when the archive lacks a header
 */
export function openChain(options: OpenChainOptions): ChainStore {
  assertKeptGenesis(keptGenesis(options.meta), options.genesis ?? null)
  const store = new ChainStore(options)
  if (store.load()) return store
  if (options.roots.length === 0 && options.genesis !== undefined && hasBlock(options.blocks, options.genesis)) {
    store.setGenesis(store.header(options.genesis))
    return store
  }
  if (options.roots.length === 0)
    throw new ChainError('NO_HEAD', 'Cannot open chain: neither a kept head nor a snapshot')
  const head = store.tipset(headKeyOf(options.blocks, options.roots))
  const { genesis: named, blockDelaySecs } = options
  const isHere = named !== undefined && hasBlock(options.blocks, named)
  const genesis = isHere ? store.header(named) : firstBlock(findGenesis(store, head))
  if (named !== undefined) {
    assertGenesis(head, genesis, named)
    if (blockDelaySecs !== undefined) assertClock(head, genesis, blockDelaySecs)
    if (head.height <= DESCENT_AT_ONCE) assertDescent(store, head, genesis)
  }
  store.setHead(head)
  store.setGenesis(genesis)
  return store
}
