/** What moves FIL in a tipset: transfers of value, and the gas that messages pay. */
import type { Cid } from '../codec/cid.ts'
import type { Address } from '../types/address.ts'
import type { ActorId, ChainEpoch, MethodNum, TokenAmount } from '../types/scalars.ts'
import type { TipsetKey } from '../types/tipset.ts'

/**
 * Where a transfer comes from: `message` is the value of a signed message itself, `internal` a send that a contract, a
 * multisig or another actor made while it ran, `reward` a block reward, `cron` what the chain does on its own.
 */
export type TransferKind = 'message' | 'internal' | 'reward' | 'cron'

/** Value that moved for good: its send and every call above it ended with exit code 0. */
export interface Transfer {
  readonly kind: TransferKind
  /** CID of the signed message that caused it, as its block holds it; null for rewards and cron. */
  readonly message: Cid | null
  /** Place of the message in the tipset's execution, implicit ones included. */
  readonly index: number
  /** Place in the message's call tree: `[]` the message itself, `[0, 2]` the third call of its first call. */
  readonly path: readonly number[]
  readonly from: ActorId
  readonly to: ActorId
  /** The recipient as the sender wrote it: a deposit address where it was sent to one. */
  readonly toAddress: Address
  readonly value: TokenAmount
  readonly method: MethodNum
}

/** What one message paid for its gas, attoFIL. */
export interface MessageFee {
  readonly message: Cid
  readonly index: number
  readonly from: ActorId
  /** Base fee and over-estimation, sent to the burnt-funds actor. */
  readonly burn: TokenAmount
  /** To the reward actor, for the block's producer. */
  readonly tip: TokenAmount
}

/** Everything that moved FIL when a tipset was executed. */
export interface TipsetTransfers {
  readonly tipset: TipsetKey
  readonly height: ChainEpoch
  /** State after it. */
  readonly root: Cid
  readonly transfers: readonly Transfer[]
  readonly fees: readonly MessageFee[]
}
