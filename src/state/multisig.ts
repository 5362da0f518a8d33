/** State of a multisig wallet. @see go-state-types builtin/v18/multisig */
import type { Cid } from '../codec/cid.ts'
import { bytes, type Codec, cid, int, list, tuple, uint } from '../codec/description.ts'
import { type Address, address } from '../types/address.ts'
import {
  type ChosenEpoch,
  chosenEpoch,
  type MethodNum,
  methodNum,
  type TokenAmount,
  tokenAmount,
} from '../types/scalars.ts'

/** Who signs for a wallet, what waits for signatures, and what is not unlocked yet. */
export interface MultisigState {
  /** ID addresses. */
  readonly signers: Address[]
  readonly numApprovalsThreshold: number
  readonly nextTxnId: number
  /** What unlocks linearly from `startEpoch` over `unlockDuration`. */
  readonly initialBalance: TokenAmount
  readonly startEpoch: ChosenEpoch
  readonly unlockDuration: ChosenEpoch
  /** HAMT (bit width 5) of transaction id to transaction. */
  readonly pendingTxns: Cid
}

export const multisigState: Codec<MultisigState> = tuple<MultisigState>('multisig.State', [
  ['signers', 'Signers', list(address)],
  ['numApprovalsThreshold', 'NumApprovalsThreshold', uint],
  ['nextTxnId', 'NextTxnID', int],
  ['initialBalance', 'InitialBalance', tokenAmount],
  ['startEpoch', 'StartEpoch', chosenEpoch],
  ['unlockDuration', 'UnlockDuration', chosenEpoch],
  ['pendingTxns', 'PendingTxns', cid],
])

/** A proposed call that waits for approvals. */
export interface MultisigTransaction {
  readonly to: Address
  readonly value: TokenAmount
  readonly method: MethodNum
  readonly params: Uint8Array
  /** Who approved, the proposer first. */
  readonly approved: Address[]
}

export const multisigTransaction: Codec<MultisigTransaction> = tuple<MultisigTransaction>('multisig.Transaction', [
  ['to', 'To', address],
  ['value', 'Value', tokenAmount],
  ['method', 'Method', methodNum],
  ['params', 'Params', bytes],
  ['approved', 'Approved', list(address)],
])
