/**
 * Whether the miner of a gossiped block is one, and whose key must have signed.
 * @see lotus chain/consensus/filcns/filecoin.go checkPowerAndGetWorkerKey
 */
import { PetrelError } from '../../base/errors.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { minerPower } from '../../chain/queries/minerPower.ts'
import { isEligible } from '../../consensus/eligibility.ts'
import { ConsensusError } from '../../consensus/errors.ts'
import { lookbackFor } from '../../consensus/lookback.ts'
import { workerAt } from '../../consensus/workerAt.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import type { Address } from '../../types/address.ts'
import type { BlockHeader } from '../../types/blockHeader.ts'
import { firstBlock } from '../../types/tipset.ts'

/**
 * What our own chain says of a miner; `unknown` may mean that our chain is behind.
 *
 *   beyond      the block looks back to where our head is, or above it: we are too far behind to say anything
 *   unknown     no miner there, no worker key, no claim
 *   powerless   known there, but with too little power, in debt, or being punished
 */
export type BlockMiner =
  | { readonly kind: 'worker'; readonly key: Address }
  | { readonly kind: 'beyond' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'powerless' }

const UNKNOWN: BlockMiner = { kind: 'unknown' }

/**
 * Looks from our head, whatever the block's own parents are: they may not be here yet.
 * @throws BlockMissing for state that is not at hand
 */
export function blockMiner(view: ChainView, header: BlockHeader): BlockMiner {
  try {
    return lookUp(view, header)
  } catch (error) {
    // Whatever stands in the way of an answer is no proof against the sender.
    if (!(error instanceof PetrelError) || error instanceof BlockMissing) throw error
    return error instanceof ConsensusError && error.code === 'LOOKBACK_UNKNOWN' ? { kind: 'beyond' } : UNKNOWN
  }
}

function lookUp(view: ChainView, { height, miner }: BlockHeader): BlockMiner {
  const head = view.store.head()
  const lookback = lookbackFor(view.store, view.network, head, height)
  // The head's own result is not waited for, but genesis' stands in its header.
  if (lookback.stateRoot === undefined && head.height > 0) return UNKNOWN
  const root = lookback.stateRoot ?? firstBlock(head).parentStateRoot
  const key = workerAt(view, view.stateTree(root), miner)
  if (!minerPower(view, view.stateBefore(lookback.tipset), miner).hasClaim) return UNKNOWN
  return isEligible(view, head, lookback.tipset, miner) ? { kind: 'worker', key } : { kind: 'powerless' }
}
