/** The key address behind a message's sender. @see lotus chain/stmgr/stmgr.go ResolveToDeterministicAddress */
import { accountKey, tryActorOf } from '../chain/actorLookup.ts'
import { type Address, isIdAddress } from '../types/address.ts'
import type { BlockContext } from './blockContext.ts'

/**
 * Senders given by ID resolve in the state before the parents' messages, and in the one after where they are new there.
 * No state is read for any other sender. @throws ChainError
 */
export function senderKey(context: BlockContext, from: Address): Address {
  const known = !isIdAddress(from) || tryActorOf(context.baseState, from) !== undefined
  return accountKey(context.view, known ? context.baseState : context.resultState, from)
}
