/** Check 16.5: the sender exists and may send. @see lotus chain/consensus/common.go IsValidForSending */
import { tryActorOf } from '../../chain/actorLookup.ts'
import type { ChainView } from '../../chain/chainView.ts'
import type { StateTree } from '../../state/stateTree.ts'
import type { ActorState } from '../../types/actor.ts'
import { type Address, delegatedParts } from '../../types/address.ts'
import { EAM_ID } from '../../types/singletons.ts'
import { ValidationError } from '../validationError.ts'

/** Ethereum accounts exist from here on. */
const ETH_ACCOUNT_VERSION = 18

/** @param tree - the state after the parents' messages */
export function checkSender(view: ChainView, tree: StateTree, from: Address, networkVersion: number): ActorState {
  const actor = tryActorOf(tree, from)
  if (actor === undefined) {
    throw new ValidationError('SENDER_INVALID', `failed to get actor: ${view.addressText(from)} not found`)
  }
  if (!maySend(view, actor, networkVersion)) {
    throw new ValidationError('SENDER_INVALID', 'Sender must be an account actor')
  }
  return actor
}

function maySend(view: ChainView, actor: ActorState, networkVersion: number): boolean {
  const kind = view.codes(actor.code)?.kind
  if (kind === 'account') return true
  if (networkVersion < ETH_ACCOUNT_VERSION) return false
  if (kind === 'ethaccount') return true
  if (kind !== 'placeholder' || actor.nonce !== 0n || actor.delegatedAddress === null) return false
  return delegatedParts(actor.delegatedAddress)?.namespace === EAM_ID
}
