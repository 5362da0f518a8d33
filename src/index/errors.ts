/** Errors of the index. */
import { PetrelError } from '../base/errors.ts'

/**
 * What waiting does not mend: `SCHEMA_NEWER`: a later Petrel made the tables; `OTHER_CHAIN`: the rows are of another network or genesis;
 * `READ_ONLY`: the user may not write, or the database takes no writes; `NOT_OURS`: a schema of the database has a name of ours and is no index, or not a whole one; `SERVER_TOO_OLD`; `POSITION_UNKNOWN`: the node does not have
 * the tipset at which the index stands, and is behind it, or of another chain below what is final there. Of readers: `SCHEMA_OLDER`: its
 * writer is of an earlier Petrel; `NOT_READABLE`: the user may not read, or nothing has been written; `NOT_KNOWN`: rows of an earlier Petrel lack what is asked; `REVERTED`: a page goes on from a tipset
 * that is no longer on the chain; `POSITION_INVALID`. What waiting may mend: `INDEX_ELSEWHERE`: the index is at another chain than the
 * node at this moment; `POSITION_MOVED`: somebody else wrote; `CONNECTION_LOST`; `DATABASE_FAILED`.
 */
export type IndexErrorCode =
  | 'SCHEMA_NEWER'
  | 'OTHER_CHAIN'
  | 'READ_ONLY'
  | 'NOT_OURS'
  | 'SERVER_TOO_OLD'
  | 'POSITION_UNKNOWN'
  | 'SCHEMA_OLDER'
  | 'NOT_READABLE'
  | 'NOT_KNOWN'
  | 'INDEX_ELSEWHERE'
  | 'REVERTED'
  | 'POSITION_INVALID'
  | 'POSITION_MOVED'
  | 'CONNECTION_LOST'
  | 'DATABASE_FAILED'

/** Thrown by everything that indexes. */
export class IndexError extends PetrelError<IndexErrorCode> {}
