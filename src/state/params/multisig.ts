/** Parameters and return values of multisigs. @see go-state-types builtin/v9 … v18/multisig */

import type { Codec } from '../../codec/codec.ts'
import { bool, bytes, int, list, nullable, tuple, u64 } from '../../codec/description.ts'
import { type Address, address } from '../../types/address.ts'
import {
  type ChosenEpoch,
  chosenEpoch,
  type ExitCode,
  exitCode,
  type MethodNum,
  methodNum,
  type TokenAmount,
  tokenAmount,
} from '../../types/scalars.ts'

/** Signers and how many must agree; `unlockDuration` above 0: its first balance is released evenly from `startEpoch` on. */
export interface ConstructorParams {
  readonly signers: Address[]
  readonly numApprovalsThreshold: bigint
  readonly unlockDuration: ChosenEpoch
  readonly startEpoch: ChosenEpoch
}

export const constructorParams: Codec<ConstructorParams> = tuple<ConstructorParams>('multisig.ConstructorParams', [
  ['signers', 'Signers', list(address)],
  ['numApprovalsThreshold', 'NumApprovalsThreshold', u64],
  ['unlockDuration', 'UnlockDuration', chosenEpoch],
  ['startEpoch', 'StartEpoch', chosenEpoch],
])

/** A message from the multisig, value in attoFIL, parameters in CBOR. The proposer approves with it. */
export interface ProposeParams {
  readonly to: Address
  readonly value: TokenAmount
  readonly method: MethodNum
  readonly params: Uint8Array
}

export const proposeParams: Codec<ProposeParams> = tuple<ProposeParams>('multisig.ProposeParams', [
  ['to', 'To', address],
  ['value', 'Value', tokenAmount],
  ['method', 'Method', methodNum],
  ['params', 'Params', bytes],
])

/** The transaction's number; where the proposer's approval was enough, exit code and return of the message. */
export interface ProposeReturn {
  readonly txnId: number
  readonly applied: boolean
  readonly code: ExitCode
  readonly ret: Uint8Array
}

export const proposeReturn: Codec<ProposeReturn> = tuple<ProposeReturn>('multisig.ProposeReturn', [
  ['txnId', 'TxnID', int],
  ['applied', 'Applied', bool],
  ['code', 'Code', exitCode],
  ['ret', 'Ret', bytes],
])

/** Which proposal is approved or cancelled. */
export interface TxnIDParams {
  readonly id: number
  /** Empty, or the proposal's hash: a reorganisation may give a number to another proposal. */
  readonly proposalHash: Uint8Array
}

export const txnIDParams: Codec<TxnIDParams> = tuple<TxnIDParams>('multisig.TxnIDParams', [
  ['id', 'ID', int],
  ['proposalHash', 'ProposalHash', bytes],
])

/** Whether that was enough, and if so exit code and return of the message that was sent. */
export interface ApproveReturn {
  readonly applied: boolean
  readonly code: ExitCode
  readonly ret: Uint8Array
}

export const approveReturn: Codec<ApproveReturn> = tuple<ApproveReturn>('multisig.ApproveReturn', [
  ['applied', 'Applied', bool],
  ['code', 'Code', exitCode],
  ['ret', 'Ret', bytes],
])

/** `increase`: one more approval is needed from then on. */
export interface AddSignerParams {
  readonly signer: Address
  readonly increase: boolean
}

export const addSignerParams: Codec<AddSignerParams> = tuple<AddSignerParams>('multisig.AddSignerParams', [
  ['signer', 'Signer', address],
  ['increase', 'Increase', bool],
])

/** `decrease`: one approval less is needed from then on. */
export interface RemoveSignerParams {
  readonly signer: Address
  readonly decrease: boolean
}

export const removeSignerParams: Codec<RemoveSignerParams> = tuple<RemoveSignerParams>('multisig.RemoveSignerParams', [
  ['signer', 'Signer', address],
  ['decrease', 'Decrease', bool],
])

/** One signer for another; the threshold stays. */
export interface SwapSignerParams {
  readonly from: Address
  readonly to: Address
}

export const swapSignerParams: Codec<SwapSignerParams> = tuple<SwapSignerParams>('multisig.SwapSignerParams', [
  ['from', 'From', address],
  ['to', 'To', address],
])

/** `[newThreshold]`: 1 to the number of signers. */
export interface ChangeNumApprovalsThresholdParams {
  readonly newThreshold: bigint
}

export const changeNumApprovalsThresholdParams: Codec<ChangeNumApprovalsThresholdParams> =
  tuple<ChangeNumApprovalsThresholdParams>('multisig.ChangeNumApprovalsThresholdParams', [
    ['newThreshold', 'NewThreshold', u64],
  ])

/** Locks attoFIL, released evenly over `unlockDuration` epochs from `startEpoch` on; where nothing was locked before. */
export interface LockBalanceParams {
  readonly startEpoch: ChosenEpoch
  readonly unlockDuration: ChosenEpoch
  readonly amount: TokenAmount
}

export const lockBalanceParams: Codec<LockBalanceParams> = tuple<LockBalanceParams>('multisig.LockBalanceParams', [
  ['startEpoch', 'StartEpoch', chosenEpoch],
  ['unlockDuration', 'UnlockDuration', chosenEpoch],
  ['amount', 'Amount', tokenAmount],
])

/** What the hash of a proposal covers. */
export interface ProposalHashData extends ProposeParams {
  /** The proposer's ID address. */
  readonly requester: Address | null
}

export const proposalHashData: Codec<ProposalHashData> = tuple<ProposalHashData>('multisig.ProposalHashData', [
  ['requester', 'Requester', nullable(address)],
  ['to', 'To', address],
  ['value', 'Value', tokenAmount],
  ['method', 'Method', methodNum],
  ['params', 'Params', bytes],
])
