/** Errors of snapshots. */
import { PetrelError } from '../../base/errors.ts'

/** Codes of {@link SnapshotError}. */
export type SnapshotErrorCode =
  /** The file is a sound archive, but no snapshot of a chain. */
  | 'INVALID_SNAPSHOT'
  /** The F3 data in it are malformed. */
  | 'INVALID_F3_DATA'
  /** It is one of another network. */
  | 'WRONG_NETWORK'

/** A snapshot that cannot be used. */
export class SnapshotError extends PetrelError<SnapshotErrorCode> {}
