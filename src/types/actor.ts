/**
 * The record of an actor in the state tree.
 * @see lotus chain/types/actor.go ActorV4, ActorV5
 */
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, nullable, tuple } from '../codec/description.ts'
import { type Address, address } from './address.ts'
import { type Nonce, nonce, type TokenAmount, tokenAmount } from './scalars.ts'

/** What the state tree maps an actor's number to: which code it runs, and where its own state begins. */
export interface ActorState {
  /** CID of the actor's code. */
  readonly code: Cid
  /** Root of the actor's own state. */
  readonly head: Cid
  readonly nonce: Nonce
  readonly balance: TokenAmount
  /** f4 address of a placeholder, an Ethereum account or a contract. */
  readonly delegatedAddress: Address | null
}

type ActorV4 = Omit<ActorState, 'delegatedAddress'>

const v4Form: Codec<ActorV4> = tuple<ActorV4>('types.Actor', [
  ['code', 'Code', cid],
  ['head', 'Head', cid],
  ['nonce', 'Nonce', nonce],
  ['balance', 'Balance', tokenAmount],
])

/** Five fields: state trees of version 5. */
export const actorV5: Codec<ActorState> = tuple<ActorState>('types.Actor', [
  ['code', 'Code', cid],
  ['head', 'Head', cid],
  ['nonce', 'Nonce', nonce],
  ['balance', 'Balance', tokenAmount],
  ['delegatedAddress', 'DelegatedAddress', nullable(address)],
])

/** Four fields: state trees up to version 4. The JSON form has the fifth all the same, null. */
export const actorV4: Codec<ActorState> = {
  ...actorV5,
  write: (writer, value) => v4Form.write(writer, value),
  read: (reader) => ({ ...v4Form.read(reader), delegatedAddress: null }),
}
