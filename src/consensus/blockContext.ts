/** What the checks of one block look at. */
import type { BlockMessages } from '../chain/blockMessages.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { TipsetState } from '../chain/vm.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { Address } from '../types/address.ts'
import type { BeaconEntry, BlockHeader } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import type { Beacon } from './beacon.ts'
import type { WinningPoStVerifier } from './winningPoSt.ts'

/** Everything that does not depend on the block. */
export interface ValidationDeps {
  readonly view: ChainView
  /** The beacon in force at an epoch. */
  readonly beaconAt: (epoch: ChainEpoch) => Beacon
  readonly winningPoSt: WinningPoStVerifier
  /** Unix time, milliseconds. */
  readonly nowMs: () => number
}

/** A block on its parents. Roots and states are those of reference/consensus.md section 5. */
export interface BlockContext extends ValidationDeps {
  readonly header: BlockHeader
  readonly messages: BlockMessages
  /** The parent tipset. */
  readonly base: Tipset
  /** What executing the parents leaves; undefined for a follower that does not execute. */
  readonly baseResult: TipsetState | undefined
  /** The state before the parents' messages. */
  readonly baseState: StateTree
  /** The tipset whose result the election is held with, and that result. */
  readonly lookback: { readonly tipset: Tipset; readonly state: StateTree }
  /** Latest beacon entry at or below the parents. */
  readonly previousBeacon: BeaconEntry
  /** Data of the entry that randomness of this block is drawn from. */
  readonly beacon: Uint8Array
  /** The miner's worker, as a BLS key address, at the lookback. */
  readonly worker: Address
}
