/**
 * Actors by address, and addresses of actors. Error texts are Lotus' own.
 * @see lotus chain/state/statetree.go GetActor, LookupIDAddress; chain/vm/vm.go ResolveToDeterministicAddr;
 *   chain/stmgr/stmgr.go LookupRobustAddress
 */
import { u64 } from '../codec/description.ts'
import { getCbor } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { FetchedSteps } from '../ipld/found.ts'
import { Hamt } from '../ipld/hamt.ts'
import { accountState } from '../state/account.ts'
import { initState } from '../state/init.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { ActorState } from '../types/actor.ts'
import {
  type Address,
  addressFromBytes,
  addressToId,
  isIdAddress,
  PROTOCOL_ACTOR,
  PROTOCOL_BLS,
  PROTOCOL_DELEGATED,
  PROTOCOL_SECP256K1,
} from '../types/address.ts'
import { INIT_ID } from '../types/singletons.ts'
import { type ChainView, resolveId } from './chainView.ts'
import { ChainError } from './errors.ts'

/** @throws ChainError `UNDEFINED_ADDRESS`, `ACTOR_NOT_FOUND` */
export function actorOf(view: ChainView, tree: StateTree, address: Address): ActorState {
  if (address.isUndefined) throw new ChainError('UNDEFINED_ADDRESS', 'GetActor called on undefined address')
  const id = resolveId(tree, address)
  if (id === undefined) {
    const name = view.addressText(address)
    throw new ChainError(
      'ACTOR_NOT_FOUND',
      `resolution lookup failed (${name}): resolve address ${name}: actor not found`,
    )
  }
  const actor = tree.getActor(id)
  if (actor === undefined) throw new ChainError('ACTOR_NOT_FOUND', 'actor not found')
  return actor
}

/** undefined where {@link actorOf} throws `ACTOR_NOT_FOUND`. */
export function tryActorOf(tree: StateTree, address: Address): ActorState | undefined {
  const id = resolveId(tree, address)
  return id === undefined ? undefined : tree.getActor(id)
}

/**
 * The address whose key signs for an account, or the delegated address of an actor that has one.
 * @throws ChainError `WRONG_ADDRESS` for f2, which nothing can resolve; `ACTOR_NOT_FOUND`, `NOT_AN_ACCOUNT`
 */
export function accountKey(view: ChainView, tree: StateTree, address: Address): Address {
  switch (address.protocol) {
    case PROTOCOL_BLS:
    case PROTOCOL_SECP256K1:
    case PROTOCOL_DELEGATED:
      return address
    case PROTOCOL_ACTOR:
      throw new ChainError('WRONG_ADDRESS', 'cannot resolve actor address to key address')
  }
  const name = view.addressText(address)
  const actor = tryActorOf(tree, address)
  if (actor === undefined) throw new ChainError('ACTOR_NOT_FOUND', `failed to find actor: ${name}`)
  if (actor.delegatedAddress !== null) return actor.delegatedAddress
  if (view.codes(actor.code)?.kind !== 'account') {
    const reason = notOfKind(view, actor, 'account')
    throw new ChainError('NOT_AN_ACCOUNT', `failed to get account actor state for ${name}: ${reason}`)
  }
  return getCbor(view.store.blocks, accountState, actor.head).address
}

/**
 * Why an actor is not loaded as one of a kind, in Lotus' words.
 * @param name - the kind's name in those words
 * @see lotus chain/actors/builtin/<kind>/<kind>.go Load
 */
export function notOfKind(view: ChainView, actor: ActorState, name: string): string {
  const kind = view.codes(actor.code)?.kind
  return kind === undefined ? `unknown actor code ${actor.code}` : `actor code is not ${name}: ${kind}`
}

/**
 * The address that the init actor maps to an ID; scans its whole map.
 * @throws ChainError `NOT_FOUND`, `NOT_SUPPORTED` for an address that is no ID
 */
export function* robustAddress(view: ChainView, tree: StateTree, address: Address): FetchedSteps<Address> {
  if (!isIdAddress(address)) {
    const text = 'failed to decode provided address as id addr: cannot get id from non id address'
    throw new ChainError('NOT_SUPPORTED', text)
  }
  const id = addressToId(address)
  const actor = tree.getActor(INIT_ID)
  if (actor === undefined) throw new ChainError('ACTOR_NOT_FOUND', 'load init actor: actor not found')
  const { addressMap } = getCbor(view.store.blocks, initState, actor.head)
  for (const found of Hamt.load(view.store.blocks, addressMap, u64).found()) {
    if (found instanceof BlockMissing) yield found
    else if (found[1] === id) return addressFromBytes(found[0])
    yield
  }
  throw new ChainError('NOT_FOUND', `Address ${view.addressText(address)} not found`)
}
