/** Errors of following finality from a checkpoint. */
import { PetrelError } from '../base/errors.ts'

/**
 * `CHECKPOINT_INVALID`: text that names no checkpoint, or one of another network. `SOURCES_DIFFER`: endpoints that were asked
 * for a checkpoint disagree. `NO_SOURCE`: nobody is left to ask. `NO_ANSWER`: nobody had an answer. `SOURCE_LIED`: what a source
 * gave fails a check. `F3_MISSING`: the network has no F3, so there is nothing to follow. `FORK`: two certificates of one
 * instance, both signed.
 */
export type LightErrorCode =
  | 'CHECKPOINT_INVALID'
  | 'SOURCES_DIFFER'
  | 'NO_SOURCE'
  | 'NO_ANSWER'
  | 'SOURCE_LIED'
  | 'F3_MISSING'
  | 'FORK'

/** An error of this folder. */
export class LightError extends PetrelError<LightErrorCode> {}
