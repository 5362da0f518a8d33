/** Which epochs blocks are looked at for at all. */
import type { ChainView } from '../chain/chainView.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock } from '../types/tipset.ts'

const MS = 1000

/**
 * Whether a block of this epoch can still matter: not below our head's finality, not more than a little ahead of the
 * clock. The head is ours, not the one that the clock would have, so that a network comes back after a pause.
 * @param nowMs - Unix time, milliseconds
 * @see lotus chain/consensus/filcns/filecoin.go IsEpochInConsensusRange
 */
export function isEpochInRange({ store, network }: ChainView, epoch: ChainEpoch, nowMs: number): boolean {
  const { chainFinality, maxHeightDrift } = network.protocol
  if (epoch < store.head().height - chainFinality) return false
  const seconds = Math.floor(nowMs / MS) - firstBlock(store.genesis()).timestamp
  return epoch <= Math.floor(seconds / network.blockDelaySecs) + maxHeightDrift
}
