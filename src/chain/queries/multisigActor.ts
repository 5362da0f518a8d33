/**
 * A multisig wallet's state.
 * @see lotus node/impl/full/state.go MsigGetPending, MsigGetVested, MsigGetAvailableBalance
 */
import { getCbor } from '../../ipld/blockstore.ts'
import { Hamt } from '../../ipld/hamt.ts'
import {
  type MultisigState,
  type MultisigTransaction,
  multisigState,
  multisigTransaction,
} from '../../state/multisig.ts'
import type { ActorState } from '../../types/actor.ts'
import type { ChainEpoch, TokenAmount } from '../../types/scalars.ts'
import { notOfKind } from '../actorLookup.ts'
import type { ChainView } from '../chainView.ts'
import { ChainError } from '../errors.ts'
import { amountLocked } from './spendableSupply.ts'

const FIRST_V3_TREES = 3

/** A proposal that waits, with its number. */
export interface PendingTransaction extends MultisigTransaction {
  readonly id: number
}

/** Keys of the map are signed varints: sign in the lowest bit. */
function transactionId(key: Uint8Array): number {
  let raw = 0
  for (let i = key.length - 1; i >= 0; i--) raw = raw * 128 + ((key[i] as number) & 0x7f)
  return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2
}

/** A wallet's actor, signers and pending proposals, and the funds that it may not spend yet. */
export class MultisigActor {
  readonly actor: ActorState
  readonly state: MultisigState
  readonly #pending: Hamt<MultisigTransaction>

  /** @throws ChainError `NOT_SUPPORTED` */
  constructor(view: ChainView, actor: ActorState) {
    this.actor = actor
    const info = view.codes(actor.code)
    if (info?.kind !== 'multisig') {
      const text = `failed to load multisig actor state: ${notOfKind(view, actor, 'multisig')}`
      throw new ChainError('NOT_SUPPORTED', text)
    }
    const { blocks } = view.store
    this.state = getCbor(blocks, multisigState, this.actor.head)
    const pointerMaps = info.actorsVersion < FIRST_V3_TREES
    this.#pending = Hamt.load(blocks, this.state.pendingTxns, multisigTransaction, { pointerMaps })
  }

  /** What of the initial balance is still locked at an epoch. */
  locked(epoch: ChainEpoch): TokenAmount {
    return amountLocked(this.state, epoch)
  }

  /** Proposals that wait for approvals, in the order of the map. */
  pending(): PendingTransaction[] {
    const out: PendingTransaction[] = []
    this.#pending.forEach((key, transaction) => {
      out.push({ id: transactionId(key), ...transaction })
    })
    return out
  }
}
