/**
 * What the machine asks of the node around it.
 * @see ref-fvm fvm/src/externs/mod.rs; lotus chain/vm/fvm.go FvmExtern
 */
import { PetrelError } from '../base/errors.ts'
import type { Cid } from '../codec/cid.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { ConsensusFault } from './kernel/kernel.ts'

/**
 * The node cannot answer what an actor asked (an epoch that has no randomness): the actor gets IllegalArgument.
 * Anything else that an extern throws, BlockMissing above all, is a failure of the host.
 */
export class ExternFailure extends PetrelError<'EXTERN_FAILURE'> {
  constructor(message: string, options?: { cause?: unknown }) {
    super('EXTERN_FAILURE', message, {}, options)
  }
}

/** All epochs are given relative to the chain that is being extended. */
export interface Externs {
  /** blake2b-256 of the ticket's VRF proof that is the base at `epoch`. @throws ExternFailure */
  chainRandomness(epoch: ChainEpoch): Uint8Array
  /** blake2b-256 of the beacon entry's data for `epoch`. @throws ExternFailure */
  beaconRandomness(epoch: ChainEpoch): Uint8Array
  /** CID of the key of the tipset at `epoch`, or of the last one before it when that round was null. */
  tipsetCid(epoch: ChainEpoch): Cid
  /** Judges two block headers; undefined: no fault. @throws ExternFailure */
  verifyConsensusFault(header1: Uint8Array, header2: Uint8Array, extra: Uint8Array): ConsensusFault | undefined
}
