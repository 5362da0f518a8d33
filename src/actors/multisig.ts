/**
 * The multisig actor: a wallet of several signers, with funds that may vest.
 * @see builtin-actors v18 actors/multisig/src/lib.rs, state.rs, types.rs
 */
import { equalBytes } from '../base/bytes.ts'
import { bytesOrEmpty as bytes, type Codec, encode, tuple, u64 } from '../codec/description.ts'
import { type MultisigState, type MultisigTransaction, multisigState, multisigTransaction } from '../state/multisig.ts'
import {
  type AddSignerParams,
  type ApproveReturn,
  addSignerParams,
  approveReturn,
  type ChangeNumApprovalsThresholdParams,
  type ConstructorParams,
  changeNumApprovalsThresholdParams,
  constructorParams,
  type LockBalanceParams,
  lockBalanceParams,
  type ProposeParams,
  type ProposeReturn,
  proposalHashData,
  proposeParams,
  proposeReturn,
  type RemoveSignerParams,
  removeSignerParams,
  type SwapSignerParams,
  swapSignerParams,
  type TxnIDParams,
  txnIDParams,
} from '../state/params/multisig.ts'
import { type Address, idAddress } from '../types/address.ts'
import { Exit } from '../types/exitCodes.ts'
import type { ChainEpoch, ChosenEpoch, ExitCode, TokenAmount } from '../types/scalars.ts'
import { INIT_ID } from '../types/singletons.ts'
import { ActorMap } from './actorMap.ts'
import { rawBlock } from './blocks.ts'
import { call, command, type NativeActor, nativeActor } from './dispatch.ts'
import { ActorError } from './errors.ts'
import { signedKey } from './mapKeys.ts'
import { resolveToActorId } from './resolveToActorId.ts'
import type { Runtime } from './runtime.ts'

const SIGNERS_MAX = 256

interface UniversalReceiverParams {
  readonly type: bigint
  readonly payload: Uint8Array
}

const universalReceiverParams: Codec<UniversalReceiverParams> = tuple<UniversalReceiverParams>(
  'UniversalReceiverParams',
  [
    ['type', 'Type', u64],
    ['payload', 'Payload', bytes],
  ],
)

type Pending = ActorMap<MultisigTransaction>

function fail(code: ExitCode, message: string): never {
  throw new ActorError(code, message)
}

function loadPending(runtime: Runtime, state: MultisigState): Pending {
  return ActorMap.load(runtime, state.pendingTxns, multisigTransaction)
}

function isSigner(state: MultisigState, signer: Address): boolean {
  return state.signers.some((known) => known.equals(signer))
}

function callerAddress(runtime: Runtime): Address {
  return idAddress(runtime.caller)
}

function requireSigner(state: MultisigState, signer: Address): void {
  if (!isSigner(state, signer)) fail(Exit.USR_FORBIDDEN, `${signer.toString()} is not a signer`)
}

function construct(runtime: Runtime, params: ConstructorParams): void {
  runtime.validateCallerIs(INIT_ID)
  if (params.signers.length === 0) fail(Exit.USR_ILLEGAL_ARGUMENT, 'Must have at least one signer')
  if (params.signers.length > SIGNERS_MAX) {
    fail(Exit.USR_ILLEGAL_ARGUMENT, `cannot add more than ${SIGNERS_MAX} signers`)
  }
  const signers: Address[] = []
  const known = new Set<bigint>()
  for (const signer of params.signers) {
    const id = resolveToActorId(runtime, signer, true)
    if (known.has(id)) fail(Exit.USR_ILLEGAL_ARGUMENT, `duplicate signer not allowed: ${signer.toString()}`)
    known.add(id)
    signers.push(idAddress(id))
  }
  if (params.numApprovalsThreshold > BigInt(params.signers.length)) {
    fail(Exit.USR_ILLEGAL_ARGUMENT, 'must not require more approvals than signers')
  }
  if (params.numApprovalsThreshold < 1n) fail(Exit.USR_ILLEGAL_ARGUMENT, 'must require at least one approval')
  if (params.unlockDuration < 0n) fail(Exit.USR_ILLEGAL_ARGUMENT, 'negative unlock duration disallowed')
  const pendingTxns = ActorMap.empty(runtime, multisigTransaction).flush()
  const locks = params.unlockDuration !== 0n
  runtime.create(multisigState, {
    signers,
    numApprovalsThreshold: Number(params.numApprovalsThreshold),
    nextTxnId: 0,
    initialBalance: locks ? runtime.message.valueReceived : 0n,
    startEpoch: locks ? params.startEpoch : 0n,
    unlockDuration: locks ? params.unlockDuration : 0n,
    pendingTxns,
  })
}

function propose(runtime: Runtime, params: ProposeParams): ProposeReturn {
  runtime.validateCallerAny()
  const proposer = callerAddress(runtime)
  if (params.value < 0n) {
    fail(Exit.USR_ILLEGAL_ARGUMENT, `proposed value must be non-negative, was ${params.value}`)
  }
  const { txnId, txn } = runtime.transaction(multisigState, (state) => {
    requireSigner(state, proposer)
    const pending = loadPending(runtime, state)
    const proposed: MultisigTransaction = { ...params, approved: [] }
    pending.set(signedKey(state.nextTxnId), proposed)
    const pendingTxns = pending.flush()
    return {
      state: { ...state, nextTxnId: state.nextTxnId + 1, pendingTxns },
      result: { txnId: state.nextTxnId, txn: proposed },
    }
  })
  return { txnId, ...approveTransaction(runtime, txnId, txn) }
}

function approve(runtime: Runtime, params: TxnIDParams): ApproveReturn {
  runtime.validateCallerAny()
  const approver = callerAddress(runtime)
  const { state, txn } = runtime.transaction(multisigState, (before) => {
    requireSigner(before, approver)
    const found = loadPending(runtime, before).get(signedKey(params.id))
    if (found === undefined) {
      fail(Exit.USR_NOT_FOUND, `no such transaction TxnID(${params.id}) for approval`)
    }
    if (params.proposalHash.length > 0 && !equalBytes(params.proposalHash, proposalHash(runtime, found))) {
      fail(Exit.USR_ILLEGAL_ARGUMENT, 'hash does not match proposal params (ensure requester is an ID address)')
    }
    return { state: before, result: { state: before, txn: found } }
  })
  const applied = executeIfApproved(runtime, state, params.id, txn)
  return applied.applied ? applied : approveTransaction(runtime, params.id, txn)
}

function cancel(runtime: Runtime, params: TxnIDParams): void {
  runtime.validateCallerAny()
  const caller = callerAddress(runtime)
  runtime.transaction(multisigState, (state) => {
    requireSigner(state, caller)
    const pending = loadPending(runtime, state)
    const txn = pending.delete(signedKey(params.id))
    if (txn === undefined) fail(Exit.USR_NOT_FOUND, `no such transaction TxnID(${params.id}) to cancel`)
    const proposer = txn.approved[0]
    if (proposer === undefined || !proposer.equals(caller)) {
      fail(Exit.USR_FORBIDDEN, 'Cannot cancel another signers transaction')
    }
    const hash = proposalHash(runtime, txn)
    if (params.proposalHash.length > 0 && !equalBytes(params.proposalHash, hash)) {
      fail(Exit.USR_ILLEGAL_STATE, 'hash does not match proposal params')
    }
    return { state: { ...state, pendingTxns: pending.flush() }, result: undefined }
  })
}

/** Methods that change the wallet itself are for the wallet: a proposal to itself. */
function requireSelf(runtime: Runtime): void {
  runtime.validateCallerIs(runtime.message.receiver)
}

/** A transaction that gives nothing but the next state. */
function update(runtime: Runtime, change: (state: MultisigState) => MultisigState): void {
  runtime.transaction(multisigState, (state) => ({ state: change(state), result: undefined }))
}

function addSigner(runtime: Runtime, params: AddSignerParams): void {
  requireSelf(runtime)
  const added = idAddress(resolveToActorId(runtime, params.signer, true))
  update(runtime, (state) => {
    if (state.signers.length >= SIGNERS_MAX) fail(Exit.USR_FORBIDDEN, `cannot add more than ${SIGNERS_MAX} signers`)
    if (isSigner(state, added)) fail(Exit.USR_FORBIDDEN, `${added.toString()} is already a signer`)
    return {
      ...state,
      signers: [...state.signers, added],
      numApprovalsThreshold: state.numApprovalsThreshold + (params.increase ? 1 : 0),
    }
  })
}

function removeSigner(runtime: Runtime, params: RemoveSignerParams): void {
  requireSelf(runtime)
  const removed = idAddress(resolveToActorId(runtime, params.signer, false))
  update(runtime, (state) => {
    requireSigner(state, removed)
    const { signers, numApprovalsThreshold: threshold } = state
    if (signers.length === 1) fail(Exit.USR_FORBIDDEN, 'Cannot remove only signer')
    if (!params.decrease && signers.length - 1 < threshold) {
      fail(
        Exit.USR_ILLEGAL_ARGUMENT,
        `can't reduce signers to ${signers.length} below threshold ${threshold} with decrease=false`,
      )
    }
    if (params.decrease && threshold < 2) {
      fail(Exit.USR_ILLEGAL_ARGUMENT, `can't decrease approvals from ${threshold} to ${threshold - 1}`)
    }
    return {
      ...state,
      pendingTxns: purgeApprovals(runtime, state, removed),
      signers: signers.filter((known) => !known.equals(removed)),
      numApprovalsThreshold: threshold - (params.decrease ? 1 : 0),
    }
  })
}

function swapSigner(runtime: Runtime, params: SwapSignerParams): void {
  requireSelf(runtime)
  const removed = idAddress(resolveToActorId(runtime, params.from, false))
  const added = idAddress(resolveToActorId(runtime, params.to, true))
  update(runtime, (state) => {
    requireSigner(state, removed)
    if (isSigner(state, added)) fail(Exit.USR_ILLEGAL_ARGUMENT, `${added.toString()} is already a signer`)
    return {
      ...state,
      signers: [...state.signers.filter((known) => !known.equals(removed)), added],
      pendingTxns: purgeApprovals(runtime, state, removed),
    }
  })
}

function changeThreshold(runtime: Runtime, params: ChangeNumApprovalsThresholdParams): void {
  requireSelf(runtime)
  update(runtime, (state) => {
    if (params.newThreshold === 0n || params.newThreshold > BigInt(state.signers.length)) {
      fail(Exit.USR_ILLEGAL_ARGUMENT, 'New threshold value not supported')
    }
    return { ...state, numApprovalsThreshold: Number(params.newThreshold) }
  })
}

function lockBalance(runtime: Runtime, params: LockBalanceParams): void {
  requireSelf(runtime)
  if (params.unlockDuration <= 0n) fail(Exit.USR_ILLEGAL_ARGUMENT, 'unlock duration must be positive')
  if (params.amount < 0n) fail(Exit.USR_ILLEGAL_ARGUMENT, 'amount to lock must be positive')
  update(runtime, (state) => {
    if (state.unlockDuration !== 0n) fail(Exit.USR_FORBIDDEN, 'modification of unlock disallowed')
    return {
      ...state,
      startEpoch: params.startEpoch,
      unlockDuration: params.unlockDuration,
      initialBalance: params.amount,
    }
  })
}

function approveTransaction(runtime: Runtime, txnId: number, txn: MultisigTransaction): ApproveReturn {
  const approver = callerAddress(runtime)
  if (txn.approved.some((known) => known.equals(approver))) {
    fail(Exit.USR_FORBIDDEN, `${approver.toString()} already approved this message`)
  }
  const approved: MultisigTransaction = { ...txn, approved: [...txn.approved, approver] }
  const after = runtime.transaction(multisigState, (state) => {
    const pending = loadPending(runtime, state)
    pending.set(signedKey(txnId), approved)
    const next = { ...state, pendingTxns: pending.flush() }
    return { state: next, result: next }
  })
  return executeIfApproved(runtime, after, txnId, approved)
}

function executeIfApproved(
  runtime: Runtime,
  state: MultisigState,
  txnId: number,
  txn: MultisigTransaction,
): ApproveReturn {
  const nothing = new Uint8Array(0)
  if (txn.approved.length < state.numApprovalsThreshold) return { applied: false, code: Exit.OK, ret: nothing }
  const balance = runtime.currentBalance()
  checkAvailable(state, balance, txn.value, runtime.epoch)
  update(runtime, (before) => {
    const pending = loadPending(runtime, before)
    pending.delete(signedKey(txnId))
    return { ...before, pendingTxns: pending.flush() }
  })
  try {
    const data = runtime.send(txn.to, txn.method, rawBlock(txn.params), txn.value)
    return { applied: true, code: Exit.OK, ret: data?.bytes ?? nothing }
  } catch (error) {
    if (!(error instanceof ActorError)) throw error
    return { applied: true, code: error.exitCode, ret: error.data?.bytes ?? nothing }
  }
}

/** What is still locked `elapsed` epochs after the start, rounded up. */
function amountLocked(state: MultisigState, elapsed: ChosenEpoch): TokenAmount {
  const { unlockDuration: duration } = state
  if (elapsed >= duration) return 0n
  if (elapsed <= 0n) return state.initialBalance
  return (state.initialBalance * (duration - elapsed) + duration - 1n) / duration
}

function checkAvailable(state: MultisigState, balance: TokenAmount, spend: TokenAmount, epoch: ChainEpoch): void {
  if (spend < 0n) fail(Exit.USR_ILLEGAL_ARGUMENT, `amount to spend ${spend} less than zero`)
  if (balance < spend) {
    fail(Exit.USR_INSUFFICIENT_FUNDS, `current balance ${balance} less than amount to spend ${spend}`)
  }
  // A transaction without value is allowed even when more is locked than there is.
  if (spend === 0n) return
  const locked = amountLocked(state, BigInt(epoch) - state.startEpoch)
  if (balance - spend < locked) {
    fail(
      Exit.USR_INSUFFICIENT_FUNDS,
      `actor balance ${balance - spend} if spent ${spend} would be less than required locked amount ${locked}`,
    )
  }
}

/** Takes a signer's approvals off all pending transactions; one without any left is dropped. @returns the new root */
function purgeApprovals(runtime: Runtime, state: MultisigState, signer: Address): MultisigState['pendingTxns'] {
  const pending = loadPending(runtime, state)
  const touched: [Uint8Array, MultisigTransaction][] = []
  pending.forEach((key, txn) => {
    if (txn.approved.some((known) => known.equals(signer))) touched.push([key, txn])
  })
  for (const [key, txn] of touched) {
    const approved = txn.approved.filter((known) => !known.equals(signer))
    if (approved.length > 0) pending.set(key, { ...txn, approved })
    else pending.delete(key)
  }
  return pending.flush()
}

function proposalHash(runtime: Runtime, txn: MultisigTransaction): Uint8Array {
  const data = encode(proposalHashData, { ...txn, requester: txn.approved[0] ?? null })
  return runtime.hashBlake2b(data)
}

/** The multisig actor's methods. */
export function createMultisigActor(): NativeActor {
  return nativeActor(
    'multisig',
    {
      Constructor: command(constructorParams, construct),
      Propose: call(proposeParams, proposeReturn, propose),
      Approve: call(txnIDParams, approveReturn, approve),
      Cancel: command(txnIDParams, cancel),
      AddSigner: command(addSignerParams, addSigner),
      RemoveSigner: command(removeSignerParams, removeSigner),
      SwapSigner: command(swapSignerParams, swapSigner),
      ChangeNumApprovalsThreshold: command(changeNumApprovalsThresholdParams, changeThreshold),
      LockBalance: command(lockBalanceParams, lockBalance),
      UniversalReceiverHook: command(universalReceiverParams, (runtime) => runtime.validateCallerAny()),
    },
    { acceptsUnknown: true },
  )
}
