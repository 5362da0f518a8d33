/** What the checks of one block look at. */
import type { BlockMessages } from '../chain/blockMessages.ts'
import type { ChainView } from '../chain/chainView.ts'
import { latestBeaconEntry } from '../chain/randomness.ts'
import type { TipsetState } from '../chain/vm.ts'
import { verify, verifyAggregate } from '../crypto/bls.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { Address } from '../types/address.ts'
import type { BeaconEntry, BlockHeader } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import type { Tipset } from '../types/tipset.ts'
import { authenticateMessage } from '../types/verifySignature.ts'
import type { Beacon } from './beacon.ts'
import { lookbackFor } from './lookback.ts'
import type { WinningPoStVerifier } from './winningPoSt.ts'
import { workerAt } from './workerAt.ts'

/** What a message costs to stand in a block, by its length in bytes. */
export type MinimumGasAt = (epoch: ChainEpoch, lengthBytes: number) => bigint

/** Everything that does not depend on the block. */
export interface ValidationDeps {
  readonly view: ChainView
  /** The beacon in force at an epoch. */
  readonly beaconAt: (epoch: ChainEpoch) => Beacon
  readonly winningPoSt: WinningPoStVerifier
  /** Unix time, milliseconds. */
  readonly nowMs: () => number
  readonly minimumGas: MinimumGasAt
  /**
   * Stands for the tipset that elections are held with: of a light node, which has no header so far back, the newest final
   * one. Default: the rule of the network.
   */
  readonly lookback?: () => ElectionState
}

/** A tipset and the state that an election is held with. */
export interface ElectionState {
  readonly tipset: Tipset
  readonly state: StateTree
}

/** A block with its parents. */
export interface BlockInput {
  readonly header: BlockHeader
  /** undefined: they are not at hand and stay unchecked. */
  readonly messages: BlockMessages | undefined
  readonly base: Tipset
  /** What executing the parents gives; undefined: a follower that does not execute. */
  readonly baseResult: TipsetState | undefined
}

/** Whether a BLS signature is by a key. */
export type VerifyBls = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean

/**
 * How signatures are checked: at once, or noted down and checked later, a few at a time (sync/deferredSignatures.ts; what
 * is noted down counts as good meanwhile).
 */
export interface SignatureChecks {
  /** Of the block's worker. */
  readonly verifyBls: VerifyBls
  /** Over the block's BLS messages. */
  readonly verifyAggregate: (
    signature: Uint8Array,
    messages: readonly Uint8Array[],
    publicKeys: readonly Uint8Array[],
  ) => boolean
  /** Of a message's sender. @throws TypesError when it is not the signer's */
  readonly authenticate: (signed: SignedMessage, signer: Address, chainId: bigint) => void
}

/** Each signature at once. */
export const AT_ONCE: SignatureChecks = { verifyBls: verify, verifyAggregate, authenticate: authenticateMessage }

/** A block on its parents. Roots and states are read when first asked for. */
export class BlockContext implements BlockInput {
  readonly header: BlockHeader
  readonly messages: BlockMessages | undefined
  /** The parent tipset. */
  readonly base: Tipset
  readonly baseResult: TipsetState | undefined
  readonly deps: ValidationDeps
  readonly view: ChainView
  readonly signatures: SignatureChecks
  #lookback: ElectionState | undefined
  #previousBeacon: BeaconEntry | undefined
  #worker: Address | undefined

  constructor(input: BlockInput, deps: ValidationDeps, signatures: SignatureChecks) {
    this.header = input.header
    this.messages = input.messages
    this.base = input.base
    this.baseResult = input.baseResult
    this.deps = deps
    this.view = deps.view
    this.signatures = signatures
  }

  get verifyBls(): VerifyBls {
    return this.signatures.verifyBls
  }

  get networkVersion(): number {
    return this.view.networkVersion(this.header.height)
  }

  /** The state before the parents' messages. */
  get baseState(): StateTree {
    return this.view.stateBefore(this.base)
  }

  /** The state after the parents' messages: computed, or (by a follower that does not execute) what the block claims. */
  get resultState(): StateTree {
    return this.view.stateTree(this.baseResult?.stateRoot ?? this.header.parentStateRoot)
  }

  /** The tipset whose result the election is held with, and that result. @throws ConsensusError `LOOKBACK_UNKNOWN` */
  get lookback(): ElectionState {
    this.#lookback ??= this.deps.lookback?.()
    if (this.#lookback === undefined) {
      const { store, network } = this.view
      const { tipset, stateRoot } = lookbackFor(store, network, this.base, this.header.height)
      this.#lookback = { tipset, state: stateRoot === undefined ? this.resultState : this.view.stateTree(stateRoot) }
    }
    return this.#lookback
  }

  /** Latest beacon entry at or below the parents. @throws ChainError `NO_BEACON_ENTRY` */
  get previousBeacon(): BeaconEntry {
    this.#previousBeacon ??= latestBeaconEntry(this.view.store, this.base)
    return this.#previousBeacon
  }

  /** Data of the entry that randomness of this block is drawn from. */
  get beacon(): Uint8Array {
    return (this.header.beaconEntries.at(-1) ?? this.previousBeacon).data
  }

  /** The miner's worker at the lookback, as a BLS key address. @throws ValidationError `WORKER_UNKNOWN` */
  get worker(): Address {
    this.#worker ??= workerAt(this.view, this.lookback.state, this.header.miner)
    return this.#worker
  }
}

/** One check of a block. @throws ValidationError with the check's own code */
export type Check = (context: BlockContext) => void
