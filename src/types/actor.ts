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

/** Bytes of the CID of a code, by all networks' manifests; and with what is before it in CBOR. */
const CODE_BYTES = 38
const CODE_CBOR_BYTES = 43

/** Codes that were read before, by their last byte: a network has a few dozen, and millions of actors. */
const known: { readonly cid: Cid; readonly bytes: Uint8Array }[] = []

function isAt(input: Uint8Array, start: number, bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (input[start + i] !== bytes[i]) return false
  return true
}

const code: Codec<Cid> = {
  ...cid,
  read: (reader) => {
    const begun = reader.offset
    reader.skipCid()
    const { input, offset: end } = reader
    const last = input[end - 1] as number
    const found = known[last]
    const isUsual = end - begun === CODE_CBOR_BYTES
    if (isUsual && found !== undefined && isAt(input, end - CODE_BYTES, found.bytes)) return found.cid
    reader.offset = begun
    const read = reader.readCid()
    if (isUsual) known[last] = { cid: read, bytes: read.bytes }
    return read
  },
}

type ActorV4 = Omit<ActorState, 'delegatedAddress'>

const v4Form: Codec<ActorV4> = tuple<ActorV4>('types.Actor', [
  ['code', 'Code', code],
  ['head', 'Head', cid],
  ['nonce', 'Nonce', nonce],
  ['balance', 'Balance', tokenAmount],
])

/** Five fields: state trees of version 5. */
export const actorV5: Codec<ActorState> = tuple<ActorState>('types.Actor', [
  ['code', 'Code', code],
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
