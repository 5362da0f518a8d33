/**
 * Methods `Msig…`: on v1 those that act return a message to push, on v0 they push it.
 * @see lotus node/impl/full/multisig.go; api/v0api/v1_wrapper.go executePrototype
 */
import { type ChainView, resolveId } from '../../chain/chainView.ts'
import {
  addSignerCall,
  answerProposal,
  createMultisig,
  type MultisigCall,
  proposeCall,
  removeSignerCall,
  swapSignerCall,
} from '../../chain/multisigMessages.ts'
import { MultisigActor, type PendingTransaction } from '../../chain/queries/multisigActor.ts'
import type { Cid } from '../../codec/cid.ts'
import { bigInt, bool, bytes, type Codec, cid, int, list, listOrEmpty, struct, uint } from '../../codec/description.ts'
import { messagePrototype } from '../../mempool/checkStatus.ts'
import { actorsVersionFor, manifestFor } from '../../networks/network.ts'
import type { MultisigState } from '../../state/multisig.ts'
import { type Address, address, idAddress, isIdAddress } from '../../types/address.ts'
import type { Message } from '../../types/message.ts'
import { MultisigMethod } from '../../types/methodNumbers.ts'
import { chainEpoch, methodNum, tokenAmount } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type CallContext, type MethodRow, method, type Param, type ParamValues, param } from '../method.ts'
import { loadTipset } from './chain.ts'

/** What the methods need. */
export interface MultisigMethodsDeps {
  readonly view: ChainView
  /** Prices, numbers, signs and pushes a message. */
  readonly push: (message: Message) => Promise<Cid>
}

const wallet = param('msig', address)
const from = param('from', address)
const id = param('txId', uint)
const proposer = param('proposer', address)
const signer = param('newSigner', address)
const oldSigner = param('oldSigner', address)
const increase = param('increaseThreshold', bool)
const key = param('tipsetKey', tipsetKey)
const call = [
  param('to', address),
  param('value', tokenAmount),
  from,
  param('method', methodNum),
  param('params', bytes),
] as const

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
  ['startEpoch', 'StartEpoch', chainEpoch],
  ['unlockDuration', 'UnlockDuration', chainEpoch],
])

/** Rows of `Msig…`. */
export function multisigMethods(deps: MultisigMethodsDeps): MethodRow[] {
  return [...queryMethods(deps.view), ...actMethods(deps)]
}

function queryMethods(view: ChainView): MethodRow[] {
  const load = (who: Address, one: TipsetKey): MultisigActor =>
    new MultisigActor(view, view.stateBefore(loadTipset(view, one)), who)
  return [
    method({
      name: 'MsigGetAvailableBalance',
      perm: 'read',
      summary: 'What a multisig can spend: its balance without what is still locked.',
      params: [param('address', address), key],
      result: tokenAmount,
      handler: (who, one) => {
        const multisig = load(who, one)
        return multisig.actor.balance - multisig.locked(loadTipset(view, one).height)
      },
    }),
    method({
      name: 'MsigGetVestingSchedule',
      perm: 'read',
      summary: "How a multisig's initial balance unlocks.",
      params: [param('address', address), key],
      result: vesting,
      handler: (who, one) => load(who, one).state,
    }),
    method({
      name: 'MsigGetVested',
      perm: 'read',
      summary: 'What unlocks in a multisig between two tipsets.',
      params: [param('address', address), param('startTipsetKey', tipsetKey), param('endTipsetKey', tipsetKey)],
      result: tokenAmount,
      handler: (who, startKey, endKey) => {
        const [start, end] = [loadTipset(view, startKey).height, loadTipset(view, endKey).height]
        if (start > end) throw new RpcError('FAILED', `start tipset ${start} is after end tipset ${end}`)
        if (start === end) return 0n
        const multisig = load(who, endKey)
        return multisig.locked(start) - multisig.locked(end)
      },
    }),
    method({
      name: 'MsigGetPending',
      perm: 'read',
      summary: 'Proposals of a multisig that wait for approvals.',
      params: [param('address', address), key],
      result: listOrEmpty(pendingTransaction),
      handler: (who, one) => load(who, one).pending(),
    }),
  ]
}

type Build<P extends readonly Param<unknown>[]> = (...args: ParamValues<P>) => Message

function actMethods({ view, push }: MultisigMethodsDeps): MethodRow[] {
  const onV1 = <const P extends readonly Param<unknown>[]>(
    name: string,
    summary: string,
    params: P,
    build: Build<P>,
  ): MethodRow =>
    method({
      name,
      perm: 'sign',
      versions: ['v1'],
      summary,
      params,
      result: messagePrototype,
      handler: (...args: [...ParamValues<P>, CallContext]) => ({
        message: build(...(args.slice(0, -1) as unknown as ParamValues<P>)),
        validNonce: false,
      }),
    })
  const onV0 = <const P extends readonly Param<unknown>[]>(
    name: string,
    summary: string,
    params: P,
    build: Build<P>,
  ): MethodRow =>
    method({
      name,
      perm: 'sign',
      versions: ['v0'],
      summary,
      params,
      result: cid,
      handler: (...args: [...ParamValues<P>, CallContext]) =>
        push(build(...(args.slice(0, -1) as unknown as ParamValues<P>))),
    })
  const onBoth = <const P extends readonly Param<unknown>[]>(
    name: string,
    summary: string,
    params: P,
    build: Build<P>,
  ): MethodRow[] => [onV1(name, summary, params, build), onV0(name, summary, params, build)]

  /** Approves or cancels a proposal that must be `expected`, as `by` proposed it. */
  const answer = (
    answerMethod: bigint,
    sender: Address,
    multisig: Address,
    number: number,
    by: Address,
    expected: MultisigCall,
  ): Message => {
    const requester = isIdAddress(by) ? by : idAddress(resolved(view, by))
    return answerProposal(answerMethod, sender, multisig, number, { ...expected, requester })
  }

  const cancelChecked: Build<readonly [typeof wallet, typeof id, ...typeof call]> = (
    multisig,
    number,
    to,
    value,
    sender,
    called,
    params,
  ) => answer(MultisigMethod.Cancel, sender, multisig, number, sender, { to, value, method: called, params })
  const cancelParams = [wallet, id, ...call] as const

  return [
    ...onBoth(
      'MsigCreate',
      'A message that creates a multisig.',
      [
        param('required', uint),
        param('signers', listOrEmpty(address)),
        param('unlockDuration', chainEpoch),
        param('initialBalance', tokenAmount),
        from,
        param('gasPrice', bigInt),
      ],
      (threshold, signers, unlockDuration, initialBalance, sender) =>
        createMultisig(sender, multisigCode(view), { signers, threshold, unlockDuration, initialBalance }),
    ),
    ...onBoth(
      'MsigPropose',
      'A message that proposes a call.',
      [wallet, ...call],
      (multisig, to, value, sender, called, params) =>
        proposeCall(sender, multisig, { to, value, method: called, params }),
    ),
    ...onBoth(
      'MsigApprove',
      'A message that approves a proposal, whatever it is.',
      [wallet, id, from],
      (multisig, number, sender) => answerProposal(MultisigMethod.Approve, sender, multisig, number, undefined),
    ),
    ...onBoth(
      'MsigApproveTxnHash',
      'A message that approves a proposal if it is the given one.',
      [wallet, id, proposer, ...call],
      (multisig, number, by, to, value, sender, called, params) =>
        answer(MultisigMethod.Approve, sender, multisig, number, by, { to, value, method: called, params }),
    ),
    onV1('MsigCancel', "A message that cancels one's own proposal.", [wallet, id, from], (multisig, number, sender) =>
      answerProposal(MultisigMethod.Cancel, sender, multisig, number, undefined),
    ),
    onV0('MsigCancel', "Cancels one's own proposal if it is the given one.", cancelParams, cancelChecked),
    onV1(
      'MsigCancelTxnHash',
      "A message that cancels one's own proposal if it is the given one.",
      cancelParams,
      cancelChecked,
    ),
    ...onBoth(
      'MsigAddPropose',
      'A message that proposes a new signer.',
      [wallet, from, signer, increase],
      (multisig, sender, added, more) => proposeCall(sender, multisig, addSignerCall(multisig, added, more)),
    ),
    ...onBoth(
      'MsigAddApprove',
      'A message that approves a new signer.',
      [wallet, from, id, proposer, signer, increase],
      (multisig, sender, number, by, added, more) =>
        answer(MultisigMethod.Approve, sender, multisig, number, by, addSignerCall(multisig, added, more)),
    ),
    ...onBoth(
      'MsigAddCancel',
      "A message that cancels one's own proposal of a new signer.",
      [wallet, from, id, signer, increase],
      (multisig, sender, number, added, more) =>
        answer(MultisigMethod.Cancel, sender, multisig, number, sender, addSignerCall(multisig, added, more)),
    ),
    ...onBoth(
      'MsigSwapPropose',
      'A message that proposes one signer in place of another.',
      [wallet, from, oldSigner, signer],
      (multisig, sender, old, added) => proposeCall(sender, multisig, swapSignerCall(multisig, old, added)),
    ),
    ...onBoth(
      'MsigSwapApprove',
      'A message that approves one signer in place of another.',
      [wallet, from, id, proposer, oldSigner, signer],
      (multisig, sender, number, by, old, added) =>
        answer(MultisigMethod.Approve, sender, multisig, number, by, swapSignerCall(multisig, old, added)),
    ),
    ...onBoth(
      'MsigSwapCancel',
      "A message that cancels one's own proposal to swap signers.",
      [wallet, from, id, oldSigner, signer],
      (multisig, sender, number, old, added) =>
        answer(MultisigMethod.Cancel, sender, multisig, number, sender, swapSignerCall(multisig, old, added)),
    ),
    ...onBoth(
      'MsigRemoveSigner',
      'A message that proposes to remove a signer.',
      [wallet, proposer, param('toRemove', address), param('decrease', bool)],
      (multisig, sender, removed, less) => proposeCall(sender, multisig, removeSignerCall(multisig, removed, less)),
    ),
  ]
}

function resolved(view: ChainView, who: Address): bigint {
  const found = resolveId(view.stateBefore(view.store.head()), who)
  if (found === undefined) throw new RpcError('ACTOR_NOT_FOUND', 'actor not found')
  return found
}

/** Code of multisigs at the head. */
function multisigCode(view: ChainView): Cid {
  const version = actorsVersionFor(view.networkVersion(view.store.head().height))
  const code = manifestFor(view.network, version)?.actors.get('multisig')
  if (code === undefined) throw new RpcError('FAILED', 'failed to get multisig code ID')
  return code
}
