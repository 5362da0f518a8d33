/**
 * Where the power that a miner is elected with is read: so far back that nobody can choose it.
 * @see lotus chain/stmgr/utils.go GetLookbackTipSetForRound
 */
import type { ChainStore } from '../chain/chainStore.ts'
import type { Cid } from '../codec/cid.ts'
import { electionLookback } from '../networks/electionLookback.ts'
import type { Network } from '../networks/network.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import { ConsensusError } from './errors.ts'

/** A tipset and the state that executing it left. */
export interface Lookback {
  readonly tipset: Tipset
  /** undefined: the tipset's own result, which no header names yet; only where the base itself is looked at. */
  readonly stateRoot: Cid | undefined
}

/**
 * The lookback for a block.
 * @param base - the parent tipset
 * @param epoch - of the block
 * @throws ConsensusError `LOOKBACK_UNKNOWN`: more null rounds than the lookback is long
 */
export function lookbackFor(store: ChainStore, network: Network, base: Tipset, epoch: ChainEpoch): Lookback {
  const { target, isShort } = electionLookback(network, epoch)
  if (target >= base.height) {
    if (isShort || base.height === 0) return { tipset: base, stateRoot: undefined }
    const text = `lookback height ${target} is at or after base height ${base.height}`
    throw new ConsensusError('LOOKBACK_UNKNOWN', text, { target, base: base.height })
  }
  const after = store.tipsetByHeight(target + 1, base, 'next')
  return { tipset: store.parent(after), stateRoot: firstBlock(after).parentStateRoot }
}
