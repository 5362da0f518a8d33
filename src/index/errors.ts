/** Errors of the index. */
import { PetrelError } from '../base/errors.ts'

/**
 * What waiting does not mend: `SCHEMA_NEWER`: a later Petrel made the tables; `OTHER_CHAIN`: the rows are of another network or genesis;
 * `READ_ONLY`: the user may not write, or the database takes no writes; `SERVER_TOO_OLD`; `POSITION_UNKNOWN`: the node does not have
 * the tipset at which the index stands. What it may mend: `POSITION_MOVED`: somebody else wrote; `CONNECTION_LOST`; `DATABASE_FAILED`.
 */
export type IndexErrorCode =
  | 'SCHEMA_NEWER'
  | 'OTHER_CHAIN'
  | 'READ_ONLY'
  | 'SERVER_TOO_OLD'
  | 'POSITION_UNKNOWN'
  | 'POSITION_MOVED'
  | 'CONNECTION_LOST'
  | 'DATABASE_FAILED'

/** Thrown by everything that indexes. */
export class IndexError extends PetrelError<IndexErrorCode> {}
