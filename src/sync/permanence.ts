/**
 * Whether a failure says something about the block, or only about the moment and this node.
 * @see lotus chain/sync.go isPermanent
 */
import { BaseError } from '../base/errors.ts'
import { ChainError, type ChainErrorCode } from '../chain/errors.ts'
import { CodecError } from '../codec/errors.ts'
import { ConsensusError } from '../consensus/errors.ts'
import { type ValidationCode, ValidationError } from '../consensus/validationError.ts'
import { VmError } from '../fvm/errors.ts'
import { BlockMissing, IpldError, type IpldErrorCode } from '../ipld/errors.ts'
import { StateError } from '../state/errors.ts'

/** The machine was not there. */
const OF_THE_MACHINE: ReadonlySet<ChainErrorCode> = new Set<ChainErrorCode>(['CANCELLED', 'VM_BUSY', 'VM_CLOSED'])

/** It was not, or cannot do this yet. */
const OF_THE_MOMENT: ReadonlySet<ChainErrorCode> = new Set<ChainErrorCode>([
  ...OF_THE_MACHINE,
  'NOT_SUPPORTED',
  'MIGRATION_NOT_SUPPORTED',
  'NOT_FOUND',
  'NO_HEAD',
  'NO_GENESIS',
])

/** What a store cannot give now, or gives damaged. */
const OF_THE_STORE: ReadonlySet<IpldErrorCode> = new Set<IpldErrorCode>([
  'NO_PROGRESS',
  'NOT_SUPPORTED',
  'NOT_INDEXED',
  'INVALID_CAR',
  'INVALID_ZSTD',
  'CID_MISMATCH',
])

/**
 * True: the block is bad for ever. Anything that is not known to be the block's fault is not: a fault of our own must not
 * make us refuse the chain of all others.
 */
export function isPermanent(error: unknown): boolean {
  if (error instanceof ValidationError) return !error.isTemporary
  if (error instanceof BlockMissing) return false
  if (error instanceof IpldError) return !OF_THE_STORE.has(error.code)
  if (error instanceof ChainError) return !OF_THE_MOMENT.has(error.code)
  if (error instanceof ConsensusError) return error.code !== 'NOT_SUPPORTED'
  return error instanceof CodecError
}

/** Failures that rest on nothing but the block, its messages (which have their root), the network's rules and the clock. */
const BY_BLOCK_ALONE: ReadonlySet<ValidationCode> = new Set<ValidationCode>([
  'FIELD_MISSING',
  'MINER_NOT_ID',
  'TIMESTAMP_IN_FUTURE',
  'MESSAGE_KIND_WRONG',
  'MESSAGE_SYNTAX_WRONG',
  'GAS_LIMIT_EXCEEDED',
  'DUPLICATE_MINER',
])

/**
 * Whether a failure may come of a block that the disk gives back damaged: then what was read has to be hashed before anybody is blamed.
 * @param hasAll - whether the state ought to be here: what is missing may be a link that is damaged
 */
export function mayBeDamage(error: unknown, hasAll: boolean): boolean {
  if (error instanceof ValidationError) return !BY_BLOCK_ALONE.has(error.code)
  if (error instanceof BlockMissing) return hasAll
  // An actor whose code nobody knows, a version that cannot be executed: a flipped bit may say so.
  if (error instanceof ChainError) return !OF_THE_MACHINE.has(error.code)
  if (error instanceof ConsensusError) return true
  return [BaseError, StateError, VmError].some((Type) => error instanceof Type) || isPermanent(error)
}
