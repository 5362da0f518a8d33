/** State of a contract; from version 10. @see go-state-types builtin/v10 … v18/evm */
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, nullable, tuple, u64 } from '../codec/description.ts'
import { type ActorId, actorId } from '../types/scalars.ts'
import { byteArray } from './scalars.ts'
import { versionedTuple } from './versionedTuple.ts'

/** The transaction that something belongs to: its origin and the origin's nonce. */
interface TransactionMark {
  readonly origin: ActorId
  readonly nonce: bigint
}

/** EIP-1153 storage, valid for one transaction. */
interface TransientData {
  /** KAMT of slot to value. */
  readonly transientDataState: Cid
  readonly transientDataLifespan: TransactionMark
}

/** A contract's code, storage and nonce; whether it is destroyed. */
export interface EvmState {
  /** Raw block with the contract's code. */
  readonly bytecode: Cid
  /** Keccak-256 of the code. */
  readonly bytecodeHash: Uint8Array
  /** KAMT of slot to value. */
  readonly contractState: Cid
  /** From version 16. */
  readonly transientData: TransientData | null
  /** Counts CREATE and CREATE2. */
  readonly nonce: bigint
  /** Set in the transaction that destroyed the contract. */
  readonly tombstone: TransactionMark | null
}

const lifespan: Codec<TransactionMark> = tuple<TransactionMark>('evm.TransientDataLifespan', [
  ['origin', 'Origin', actorId],
  ['nonce', 'Nonce', u64],
])

const tombstone: Codec<TransactionMark> = { ...lifespan, name: 'evm.Tombstone' }

const transientData: Codec<TransientData> = tuple<TransientData>('evm.TransientData', [
  ['transientDataState', 'TransientDataState', cid],
  ['transientDataLifespan', 'TransientDataLifespan', lifespan],
])

export const evmStateAt: (actorsVersion: number) => Codec<EvmState> = versionedTuple<EvmState>('evm.State', [
  ['bytecode', 'Bytecode', cid],
  ['bytecodeHash', 'BytecodeHash', byteArray(32)],
  ['contractState', 'ContractState', cid],
  ['transientData', 'TransientData', nullable(transientData), { from: 16 }],
  ['nonce', 'Nonce', u64],
  ['tombstone', 'Tombstone', nullable(tombstone)],
])
export const evmState: Codec<EvmState> = evmStateAt(18)
