/** Errors of F3: one code for each check of a certificate, in the order of the checks. */
import { PetrelError } from '../../base/errors.ts'

/** Codes of {@link F3Error}. */
export type F3ErrorCode =
  | 'INSTANCE_WRONG'
  | 'CHAIN_TOO_LONG'
  | 'CHAIN_TIPSET_WRONG'
  | 'CHAIN_EPOCHS_WRONG'
  | 'CHAIN_EMPTY'
  | 'BASE_WRONG'
  | 'POWER_TABLE_WRONG'
  | 'SIGNER_UNKNOWN'
  | 'SIGNER_WITHOUT_POWER'
  | 'NO_QUORUM'
  | 'SIGNATURE_INVALID'
  | 'DELTA_NOT_SORTED'
  | 'DELTA_WRONG'
  | 'NEXT_TABLE_WRONG'
  /** There is no F3 on this network, or it is switched off. */
  | 'DISABLED'
  /** The chain has not reached the bootstrap epoch. */
  | 'NOT_RUNNING'
  /** The bootstrap lies too far back to be read off the chain: the first power table has to come from elsewhere. */
  | 'BOOTSTRAP_OUT_OF_REACH'
  | 'NOT_FOUND'
  | 'FUTURE_INSTANCE'
  | 'MANIFEST_WRONG'
  | 'STORE_CORRUPT'

/** Thrown by everything in this folder. */
export class F3Error extends PetrelError<F3ErrorCode> {}
