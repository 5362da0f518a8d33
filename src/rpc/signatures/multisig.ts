/** Signatures of `Msig…`: those that act answer with a draft on v1, and send it on v0 (the same row with a CID as its result). */
import type { PendingTransaction } from '../../chain/queries/multisigActor.ts'
import { bigInt } from '../../codec/bigInteger.ts'
import type { Cid } from '../../codec/cid.ts'
import { bool, bytes, type Codec, cid, int, list, listOrEmpty, struct, uint } from '../../codec/description.ts'
import { type MessagePrototype, messagePrototype } from '../../mempool/checkStatus.ts'
import type { MultisigState } from '../../state/multisig.ts'
import { type Address, address } from '../../types/address.ts'
import { chosenEpoch, methodNum, tokenAmount } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'

const key = param('tipsetKey', tipsetKey)
const wallet = param('msig', address)
const from = param('from', address)
const id = param('txId', uint)
const proposer = param('proposer', address)
const signer = param('newSigner', address)
const oldSigner = param('oldSigner', address)
const increase = param('increaseThreshold', bool)
/** What is called. */
const call = [
  param('to', address),
  param('value', tokenAmount),
  from,
  param('method', methodNum),
  param('params', bytes),
] as const
const cancelParams = [wallet, id, ...call] as const

const pendingTransaction: Codec<PendingTransaction> = struct<PendingTransaction>('api.MsigTransaction', [
  ['id', 'ID', int],
  ['to', 'To', address],
  ['value', 'Value', tokenAmount],
  ['method', 'Method', methodNum],
  ['params', 'Params', bytes],
  ['approved', 'Approved', list(address)],
])

type Vesting = Pick<MultisigState, 'initialBalance' | 'startEpoch' | 'unlockDuration'>

const vesting: Codec<Vesting> = struct<Vesting>('api.MsigVesting', [
  ['initialBalance', 'InitialBalance', tokenAmount],
  ['startEpoch', 'StartEpoch', chosenEpoch],
  ['unlockDuration', 'UnlockDuration', chosenEpoch],
])

export const msigGetAvailableBalance: CallSignature<readonly [Param<Address>, Param<TipsetKey>], bigint> =
  callSignature({
    name: 'MsigGetAvailableBalance',
    perm: 'read',
    summary: 'What a multisig can spend: its balance without what is still locked.',
    params: [param('address', address), key],
    result: tokenAmount,
  })

export const msigGetVestingSchedule: CallSignature<readonly [Param<Address>, Param<TipsetKey>], Vesting> =
  callSignature({
    name: 'MsigGetVestingSchedule',
    perm: 'read',
    summary: "How a multisig's initial balance unlocks.",
    params: [param('address', address), key],
    result: vesting,
  })

export const msigGetVested: CallSignature<readonly [Param<Address>, Param<TipsetKey>, Param<TipsetKey>], bigint> =
  callSignature({
    name: 'MsigGetVested',
    perm: 'read',
    summary: 'What unlocks in a multisig between two tipsets.',
    params: [param('address', address), param('startTipsetKey', tipsetKey), param('endTipsetKey', tipsetKey)],
    result: tokenAmount,
  })

export const msigGetPending: CallSignature<readonly [Param<Address>, Param<TipsetKey>], PendingTransaction[]> =
  callSignature({
    name: 'MsigGetPending',
    perm: 'read',
    summary: 'Proposals of a multisig that wait for approvals.',
    params: [param('address', address), key],
    result: listOrEmpty(pendingTransaction),
  })

export const msigCreate: CallSignature<
  readonly [Param<number>, Param<Address[]>, Param<bigint>, Param<bigint>, Param<Address>, Param<bigint>],
  MessagePrototype
> = callSignature({
  name: 'MsigCreate',
  perm: 'sign',
  versions: ['v1'],
  summary: 'A message that creates a multisig.',
  params: [
    param('required', uint),
    param('signers', listOrEmpty(address)),
    param('unlockDuration', chosenEpoch),
    param('initialBalance', tokenAmount),
    from,
    param('gasPrice', bigInt),
  ],
  result: messagePrototype,
})

export const msigPropose: CallSignature<
  readonly [Param<Address>, Param<Address>, Param<bigint>, Param<Address>, Param<bigint>, Param<Uint8Array>],
  MessagePrototype
> = callSignature({
  name: 'MsigPropose',
  perm: 'sign',
  versions: ['v1'],
  summary: 'A message that proposes a call.',
  params: [wallet, ...call],
  result: messagePrototype,
})

export const msigApprove: CallSignature<readonly [Param<Address>, Param<number>, Param<Address>], MessagePrototype> =
  callSignature({
    name: 'MsigApprove',
    perm: 'sign',
    versions: ['v1'],
    summary: 'A message that approves a proposal, whatever it is.',
    params: [wallet, id, from],
    result: messagePrototype,
  })

export const msigApproveTxnHash: CallSignature<
  readonly [
    Param<Address>,
    Param<number>,
    Param<Address>,
    Param<Address>,
    Param<bigint>,
    Param<Address>,
    Param<bigint>,
    Param<Uint8Array>,
  ],
  MessagePrototype
> = callSignature({
  name: 'MsigApproveTxnHash',
  perm: 'sign',
  versions: ['v1'],
  summary: 'A message that approves a proposal if it is the given one.',
  params: [wallet, id, proposer, ...call],
  result: messagePrototype,
})

export const msigCancel: CallSignature<readonly [Param<Address>, Param<number>, Param<Address>], MessagePrototype> =
  callSignature({
    name: 'MsigCancel',
    perm: 'sign',
    versions: ['v1'],
    summary: "A message that cancels one's own proposal.",
    params: [wallet, id, from],
    result: messagePrototype,
  })

export const msigCancelV0: CallSignature<
  readonly [
    Param<Address>,
    Param<number>,
    Param<Address>,
    Param<bigint>,
    Param<Address>,
    Param<bigint>,
    Param<Uint8Array>,
  ],
  Cid
> = callSignature({
  name: 'MsigCancel',
  perm: 'sign',
  versions: ['v0'],
  summary: "Cancels one's own proposal if it is the given one.",
  params: cancelParams,
  result: cid,
})

export const msigCancelTxnHash: CallSignature<
  readonly [
    Param<Address>,
    Param<number>,
    Param<Address>,
    Param<bigint>,
    Param<Address>,
    Param<bigint>,
    Param<Uint8Array>,
  ],
  MessagePrototype
> = callSignature({
  name: 'MsigCancelTxnHash',
  perm: 'sign',
  versions: ['v1'],
  summary: "A message that cancels one's own proposal if it is the given one.",
  params: cancelParams,
  result: messagePrototype,
})

export const msigAddPropose: CallSignature<
  readonly [Param<Address>, Param<Address>, Param<Address>, Param<boolean>],
  MessagePrototype
> = callSignature({
  name: 'MsigAddPropose',
  perm: 'sign',
  versions: ['v1'],
  summary: 'A message that proposes a new signer.',
  params: [wallet, from, signer, increase],
  result: messagePrototype,
})

export const msigAddApprove: CallSignature<
  readonly [Param<Address>, Param<Address>, Param<number>, Param<Address>, Param<Address>, Param<boolean>],
  MessagePrototype
> = callSignature({
  name: 'MsigAddApprove',
  perm: 'sign',
  versions: ['v1'],
  summary: 'A message that approves a new signer.',
  params: [wallet, from, id, proposer, signer, increase],
  result: messagePrototype,
})

export const msigAddCancel: CallSignature<
  readonly [Param<Address>, Param<Address>, Param<number>, Param<Address>, Param<boolean>],
  MessagePrototype
> = callSignature({
  name: 'MsigAddCancel',
  perm: 'sign',
  versions: ['v1'],
  summary: "A message that cancels one's own proposal of a new signer.",
  params: [wallet, from, id, signer, increase],
  result: messagePrototype,
})

export const msigSwapPropose: CallSignature<
  readonly [Param<Address>, Param<Address>, Param<Address>, Param<Address>],
  MessagePrototype
> = callSignature({
  name: 'MsigSwapPropose',
  perm: 'sign',
  versions: ['v1'],
  summary: 'A message that proposes one signer in place of another.',
  params: [wallet, from, oldSigner, signer],
  result: messagePrototype,
})

export const msigSwapApprove: CallSignature<
  readonly [Param<Address>, Param<Address>, Param<number>, Param<Address>, Param<Address>, Param<Address>],
  MessagePrototype
> = callSignature({
  name: 'MsigSwapApprove',
  perm: 'sign',
  versions: ['v1'],
  summary: 'A message that approves one signer in place of another.',
  params: [wallet, from, id, proposer, oldSigner, signer],
  result: messagePrototype,
})

export const msigSwapCancel: CallSignature<
  readonly [Param<Address>, Param<Address>, Param<number>, Param<Address>, Param<Address>],
  MessagePrototype
> = callSignature({
  name: 'MsigSwapCancel',
  perm: 'sign',
  versions: ['v1'],
  summary: "A message that cancels one's own proposal to swap signers.",
  params: [wallet, from, id, oldSigner, signer],
  result: messagePrototype,
})

export const msigRemoveSigner: CallSignature<
  readonly [Param<Address>, Param<Address>, Param<Address>, Param<boolean>],
  MessagePrototype
> = callSignature({
  name: 'MsigRemoveSigner',
  perm: 'sign',
  versions: ['v1'],
  summary: 'A message that proposes to remove a signer.',
  params: [wallet, proposer, param('toRemove', address), param('decrease', bool)],
  result: messagePrototype,
})
