/**
 * Messages that create a multisig wallet, and that propose, approve and cancel in one.
 * @see lotus chain/actors/builtin/multisig/message0.go, message10.go; node/impl/full/multisig.go
 */
import { EMPTY_BYTES } from '../base/bytes.ts'
import type { Cid } from '../codec/cid.ts'
import { encode } from '../codec/description.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import { execParams } from '../state/params/init.ts'
import {
  addSignerParams,
  constructorParams,
  type ProposalHashData,
  proposalHashData,
  proposeParams,
  removeSignerParams,
  swapSignerParams,
  txnIDParams,
} from '../state/params/multisig.ts'
import type { Address } from '../types/address.ts'
import type { Message } from '../types/message.ts'
import { InitMethod, MultisigMethod } from '../types/methodNumbers.ts'
import type { ChosenEpoch, MethodNum, TokenAmount } from '../types/scalars.ts'
import { INIT_ADDRESS } from '../types/singletons.ts'
import { ChainError } from './errors.ts'

/** What a proposal does. */
export interface MultisigCall {
  readonly to: Address
  readonly value: TokenAmount
  readonly method: MethodNum
  readonly params: Uint8Array
}

/** What a new wallet is. */
export interface NewMultisig {
  readonly signers: Address[]
  /** 0: all of them. */
  readonly threshold: number
  readonly unlockDuration: ChosenEpoch
  readonly initialBalance: TokenAmount
}

function refuse(text: string): ChainError {
  return new ChainError('WRONG_MESSAGE', text)
}

/** A message without nonce and gas. @throws ChainError `WRONG_MESSAGE` */
function unpriced(from: Address, to: Address, value: TokenAmount, method: MethodNum, params: Uint8Array): Message {
  if (from.isUndefined) throw refuse('must provide source address')
  return { version: 0, to, from, nonce: 0n, value, gasLimit: 0n, gasFeeCap: 0n, gasPremium: 0n, method, params }
}

/**
 * @param code - the multisig actor's code
 * @throws ChainError `WRONG_MESSAGE`
 */
export function createMultisig(from: Address, code: Cid, wallet: NewMultisig): Message {
  const { signers, threshold, unlockDuration, initialBalance } = wallet
  if (signers.length < threshold) {
    throw refuse('cannot require signing of more addresses than provided for multisig')
  }
  const constructed = encode(constructorParams, {
    signers,
    numApprovalsThreshold: BigInt(threshold === 0 ? signers.length : threshold),
    unlockDuration,
    startEpoch: 0n,
  })
  const params = encode(execParams, { codeCid: code, constructorParams: constructed })
  return unpriced(from, INIT_ADDRESS, initialBalance, InitMethod.Exec, params)
}

/** @throws ChainError `WRONG_MESSAGE` */
export function proposeCall(from: Address, wallet: Address, call: MultisigCall): Message {
  if (wallet.isUndefined) throw refuse('failed to create proposal: must provide a multisig address for proposal')
  if (call.to.isUndefined) throw refuse('failed to create proposal: must provide a target address for proposal')
  if (call.value < 0n) {
    throw refuse('failed to create proposal: must provide a non-negative amount for proposed send')
  }
  if (from.isUndefined) throw refuse('failed to create proposal: must provide source address')
  return unpriced(from, wallet, 0n, MultisigMethod.Propose, encode(proposeParams, call))
}

/**
 * Approves or cancels a proposal.
 * @param method - {@link MultisigMethod.Approve} or {@link MultisigMethod.Cancel}
 * @param check - what the proposal must be; undefined: whatever it is
 * @throws ChainError `WRONG_MESSAGE`
 */
export function answerProposal(
  method: MethodNum,
  from: Address,
  wallet: Address,
  id: number,
  check: ProposalHashData | undefined,
): Message {
  if (wallet.isUndefined) throw refuse('must provide multisig address')
  if (from.isUndefined) throw refuse('must provide source address')
  const proposalHash = check === undefined ? EMPTY_BYTES : blake2b256(encode(proposalHashData, check))
  return unpriced(from, wallet, 0n, method, encode(txnIDParams, { id, proposalHash }))
}

function ownCall(wallet: Address, method: MethodNum, params: Uint8Array): MultisigCall {
  return { to: wallet, value: 0n, method, params }
}

/** The wallet's call of itself that adds a signer. */
export function addSignerCall(wallet: Address, signer: Address, increase: boolean): MultisigCall {
  return ownCall(wallet, MultisigMethod.AddSigner, encode(addSignerParams, { signer, increase }))
}

/**
 * The wallet's call of itself that removes a signer.
 * @param decrease - whether one approval less is needed then
 */
export function removeSignerCall(wallet: Address, signer: Address, decrease: boolean): MultisigCall {
  return ownCall(wallet, MultisigMethod.RemoveSigner, encode(removeSignerParams, { signer, decrease }))
}

/** The wallet's call of itself that puts one signer in the place of another. The number of approvals stays. */
export function swapSignerCall(wallet: Address, from: Address, to: Address): MultisigCall {
  return ownCall(wallet, MultisigMethod.SwapSigner, encode(swapSignerParams, { from, to }))
}
