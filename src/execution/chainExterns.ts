/**
 * The chain's answers to the machine, for a tipset that is executed.
 * @see lotus chain/vm/fvm.go FvmExtern
 */
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import type { Cid } from '../codec/cid.ts'
import { ExternFailure, type Externs } from '../fvm/externs.ts'
import type { ConsensusFault } from '../fvm/kernel/kernel.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { type Tipset, tipsetKeyCid } from '../types/tipset.ts'
import { type FaultContext, faultOf } from './consensusFault.ts'

/** What the chain cannot answer is the actor's problem; what the store cannot give (missing, damaged, not readable) is the host's. */
function answer<T>(ask: () => T): T {
  try {
    return ask()
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    throw new ExternFailure(error.message, { cause: error })
  }
}

/** Answers relative to the chain that `tipset` ends. */
export class ChainExterns implements Externs {
  readonly #view: ChainView
  readonly #tipset: Tipset
  readonly #faults: FaultContext

  /** @param tipset - the one that is executed */
  constructor(view: ChainView, tipset: Tipset, faults: FaultContext) {
    this.#view = view
    this.#tipset = tipset
    this.#faults = faults
  }

  chainRandomness(epoch: ChainEpoch): Uint8Array {
    return answer(() => this.#view.randomness(this.#tipset).ticketDigest(epoch))
  }

  beaconRandomness(epoch: ChainEpoch): Uint8Array {
    return answer(() => this.#view.randomness(this.#tipset).beaconDigest(epoch))
  }

  tipsetCid(epoch: ChainEpoch): Cid {
    return answer(() => tipsetKeyCid(this.#view.store.tipsetByHeight(epoch, this.#tipset, 'previous').key))
  }

  verifyConsensusFault(header1: Uint8Array, header2: Uint8Array, extra: Uint8Array): ConsensusFault | undefined {
    return answer(() => faultOf(this.#faults, header1, header2, extra))
  }
}
