/**
 * Whether a chain is the one of a genesis. An archive may hold any chain: what it is served as (chain ID, rules, names of
 * addresses) is the operator's word, so the archive has to prove it.
 *
 * Two looks: the clock of the head, at once, which tells apart all chains that were not made to deceive; and the parents,
 * all the way down, which cannot be deceived and takes minutes on a chain of millions of epochs.
 */
import type { Pace } from '../base/pace.ts'
import type { Cid } from '../codec/cid.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { type BlockHeader, headerCid } from '../types/blockHeader.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import type { ChainStore } from './chainStore.ts'
import { ChainError } from './errors.ts'

/** Headers that are followed at once, before the chain is opened. */
export const DESCENT_AT_ONCE = 20_000

function otherChain(head: Tipset, genesis: Cid, reason: string): ChainError {
  const text = `Cannot open chain: its head at epoch ${head.height} does not descend from the genesis ${genesis} (${reason})`
  return new ChainError('OTHER_CHAIN', text, { height: head.height })
}

/**
 * Before anything is written to the store of a network.
 * @param kept - genesis of the chain in it; undefined: there is none
 * @param named - the network's; null: it is not known
 * @throws ChainError `OTHER_CHAIN`
 */
export function assertKeptGenesis(kept: Cid | undefined, named: Cid | null): void {
  if (kept === undefined || named === null || kept.equals(named)) return
  const text = `Cannot open chain: the store holds the chain of the genesis ${kept}, another network's; expected ${named}`
  throw new ChainError('OTHER_CHAIN', text)
}

/** @throws ChainError `OTHER_CHAIN` unless the chain's own genesis is the one that was named */
export function assertGenesis(head: Tipset, own: BlockHeader, named: Cid): void {
  if (!headerCid(own).equals(named)) throw otherChain(head, named, `its own genesis is ${headerCid(own)}`)
}

/**
 * The quick look: every block's time is that of genesis and its epochs.
 * @param blockDelaySecs - seconds between epochs
 * @throws ChainError `OTHER_CHAIN`
 * @see lotus chain/consensus/filcns/filecoin.go ValidateBlock (timestamp check)
 */
export function assertClock(head: Tipset, genesis: BlockHeader, blockDelaySecs: number): void {
  const expected = genesis.timestamp + head.height * blockDelaySecs
  const { timestamp } = firstBlock(head)
  if (timestamp === expected) return
  throw otherChain(head, headerCid(genesis), `its time is ${timestamp}, expected ${expected}`)
}

/**
 * Follows the first parents of `head`, at most `steps` of them.
 * @returns where it stopped; undefined when it has come to the genesis
 * @throws ChainError `OTHER_CHAIN`; BlockMissing
 */
export function followParents(
  store: ChainStore,
  head: Tipset,
  genesis: BlockHeader,
  from: BlockHeader,
  steps: number,
): BlockHeader | undefined {
  const named = headerCid(genesis)
  let header = from
  for (let i = 0; i < steps; i++) {
    if (header.height === 0) {
      assertGenesis(head, header, named)
      return undefined
    }
    const parent = header.parents[0]
    if (parent === undefined) throw otherChain(head, named, `a block of epoch ${header.height} has no parents`)
    const next = store.uncachedHeader(parent)
    if (next.height >= header.height) throw otherChain(head, named, `epoch ${next.height} below ${header.height}`)
    header = next
  }
  return header
}

/**
 * The whole way, with pauses.
 * @returns false where the headers end above the genesis: an archive that leaves out old ones proves nothing
 * @throws ChainError `OTHER_CHAIN`; the signal's reason
 */
export async function provesDescent(
  store: ChainStore,
  head: Tipset,
  pace: Pace,
  signal: AbortSignal,
): Promise<boolean> {
  const genesis = firstBlock(store.genesis())
  let at: BlockHeader | undefined = firstBlock(head)
  try {
    while (at !== undefined) {
      signal.throwIfAborted()
      if (pace.isDue) await pace.pause()
      at = followParents(store, head, genesis, at, STEPS)
    }
    return true
  } catch (error) {
    if (error instanceof BlockMissing) return false
    throw error
  }
}

/** Headers between two looks at the clock. */
const STEPS = 100
