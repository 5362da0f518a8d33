/**
 * Methods `Msig…`: on v1 those that act return a message to push, on v0 they push it.
 * @see lotus node/impl/full/multisig.go; api/v0api/v1_wrapper.go executePrototype
 */
import { actorOf } from '../../chain/actorLookup.ts'
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
import { MultisigActor } from '../../chain/queries/multisigActor.ts'
import type { Cid } from '../../codec/cid.ts'
import { cid } from '../../codec/description.ts'
import { allAtHand, type BlockEdge } from '../../ipld/blockFetcher.ts'
import type { MessagePrototype } from '../../mempool/checkStatus.ts'
import { actorsVersionFor, manifestFor } from '../../networks/network.ts'
import type { PushDraft } from '../../payments/paymentDraft.ts'
import { type Address, idAddress, isIdAddress } from '../../types/address.ts'
import type { Message } from '../../types/message.ts'
import { MultisigMethod } from '../../types/methodNumbers.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { inContext } from '../inContext.ts'
import { type CallContext, type MethodRow, method, type Param, type ParamValues } from '../method.ts'
import { type CallSignature, SIGNER_MAY_ASK } from '../signature.ts'
import {
  msigAddApprove,
  msigAddCancel,
  msigAddPropose,
  msigApprove,
  msigApproveTxnHash,
  msigCancel,
  msigCancelTxnHash,
  msigCancelV0,
  msigCreate,
  msigGetAvailableBalance,
  msigGetPending,
  msigGetVested,
  msigGetVestingSchedule,
  msigPropose,
  msigRemoveSigner,
  msigSwapApprove,
  msigSwapCancel,
  msigSwapPropose,
} from '../signatures/multisig.ts'
import { loadTipset } from './chain.ts'

/** What the methods need. */
export interface MultisigMethodsDeps {
  readonly view: ChainView
  readonly push: PushDraft
  /** Around what is read for a message that is pushed. Default: all is at hand. */
  readonly edge?: BlockEdge
}

/** Rows of `Msig…`. */
export function multisigMethods(deps: MultisigMethodsDeps): MethodRow[] {
  return [...queryMethods(deps.view), ...actMethods(deps)]
}

function queryMethods(view: ChainView): MethodRow[] {
  const load = (who: Address, key: TipsetKey, at = ''): MultisigActor => {
    const tree = view.stateBefore(loadTipset(view, key))
    return new MultisigActor(
      view,
      inContext(`failed to load multisig actor${at}: `, () => actorOf(view, tree, who)),
    )
  }
  return [
    method({
      ...msigGetAvailableBalance,
      handler: (who, key) => {
        const multisig = load(who, key)
        return multisig.actor.balance - multisig.locked(loadTipset(view, key).height)
      },
    }),
    method({
      ...msigGetVestingSchedule,
      handler: (who, key) => load(who, key).state,
    }),
    method({
      ...msigGetVested,
      handler: (who, startKey, endKey) => {
        const [start, end] = [loadTipset(view, startKey).height, loadTipset(view, endKey).height]
        if (start > end) throw new RpcError('FAILED', `start tipset ${start} is after end tipset ${end}`)
        if (start === end) return 0n
        const multisig = load(who, endKey, ' at end epoch')
        return multisig.locked(start) - multisig.locked(end)
      },
    }),
    method({
      ...msigGetPending,
      handler: (who, key) => load(who, key).pending(),
    }),
  ]
}

type Build<P extends readonly Param<unknown>[]> = (...args: ParamValues<P>) => Message

function actMethods({ view, push, edge = allAtHand }: MultisigMethodsDeps): MethodRow[] {
  const onV1 = <const P extends readonly Param<unknown>[]>(
    signature: CallSignature<P, MessagePrototype>,
    build: Build<P>,
  ): MethodRow =>
    method({
      ...signature,
      // It only drafts.
      runsOnce: false,
      handler: (...args: [...ParamValues<P>, CallContext]) => ({
        message: build(...(args.slice(0, -1) as unknown as ParamValues<P>)),
        validNonce: false,
      }),
    })
  const onV0 = <const P extends readonly Param<unknown>[]>(
    signature: CallSignature<P, Cid>,
    build: Build<P>,
  ): MethodRow =>
    method({
      ...signature,
      noDeadline: SIGNER_MAY_ASK,
      handler: async (...args: [...ParamValues<P>, CallContext]) => {
        const { signal } = args.at(-1) as CallContext
        const built = await edge(() => build(...(args.slice(0, -1) as unknown as ParamValues<P>)), signal)
        return push(built, undefined, signal)
      },
    })
  /** A method that drafts on v1 and sends on v0. */
  const onBoth = <const P extends readonly Param<unknown>[]>(
    signature: CallSignature<P, MessagePrototype>,
    build: Build<P>,
  ): MethodRow[] => [onV1(signature, build), onV0({ ...signature, versions: ['v0'], result: cid }, build)]

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

  const cancelChecked: Build<typeof msigCancelTxnHash.params> = (multisig, number, to, value, sender, called, params) =>
    answer(MultisigMethod.Cancel, sender, multisig, number, sender, { to, value, method: called, params })

  return [
    ...onBoth(msigCreate, (threshold, signers, unlockDuration, initialBalance, sender) =>
      createMultisig(sender, multisigCode(view), { signers, threshold, unlockDuration, initialBalance }),
    ),
    ...onBoth(msigPropose, (multisig, to, value, sender, called, params) =>
      proposeCall(sender, multisig, { to, value, method: called, params }),
    ),
    ...onBoth(msigApprove, (multisig, number, sender) =>
      answerProposal(MultisigMethod.Approve, sender, multisig, number, undefined),
    ),
    ...onBoth(msigApproveTxnHash, (multisig, number, by, to, value, sender, called, params) =>
      answer(MultisigMethod.Approve, sender, multisig, number, by, { to, value, method: called, params }),
    ),
    onV1(msigCancel, (multisig, number, sender) =>
      answerProposal(MultisigMethod.Cancel, sender, multisig, number, undefined),
    ),
    onV0(msigCancelV0, cancelChecked),
    onV1(msigCancelTxnHash, cancelChecked),
    ...onBoth(msigAddPropose, (multisig, sender, added, more) =>
      proposeCall(sender, multisig, addSignerCall(multisig, added, more)),
    ),
    ...onBoth(msigAddApprove, (multisig, sender, number, by, added, more) =>
      answer(MultisigMethod.Approve, sender, multisig, number, by, addSignerCall(multisig, added, more)),
    ),
    ...onBoth(msigAddCancel, (multisig, sender, number, added, more) =>
      answer(MultisigMethod.Cancel, sender, multisig, number, sender, addSignerCall(multisig, added, more)),
    ),
    ...onBoth(msigSwapPropose, (multisig, sender, old, added) =>
      proposeCall(sender, multisig, swapSignerCall(multisig, old, added)),
    ),
    ...onBoth(msigSwapApprove, (multisig, sender, number, by, old, added) =>
      answer(MultisigMethod.Approve, sender, multisig, number, by, swapSignerCall(multisig, old, added)),
    ),
    ...onBoth(msigSwapCancel, (multisig, sender, number, old, added) =>
      answer(MultisigMethod.Cancel, sender, multisig, number, sender, swapSignerCall(multisig, old, added)),
    ),
    ...onBoth(msigRemoveSigner, (multisig, sender, removed, less) =>
      proposeCall(sender, multisig, removeSignerCall(multisig, removed, less)),
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
