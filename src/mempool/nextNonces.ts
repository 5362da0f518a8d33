/**
 * The nonces that this node has given out: one past the last one sent, for each sender. A nonce stays taken even if its
 * message vanishes from the pool.
 * @see lotus chain/messagesigner/messagesigner.go NextNonce, SaveNonce
 */
import { utf8 } from '../base/bytes.ts'
import type { KeyValueStore } from '../base/ports.ts'
import { decode, encode, u64 } from '../codec/description.ts'
import type { Address } from '../types/address.ts'
import type { StoreWrite } from './groupCommit.ts'
import { NEXT_NONCE_PREFIX } from './storeKeys.ts'

/** Next nonces on disk. */
export class NextNonces {
  readonly #store: KeyValueStore

  constructor(store: KeyValueStore) {
    this.#store = store
  }

  /** One past the last nonce given out that is on disk; 0 for a new sender. */
  next(sender: Address): bigint {
    const bytes = this.#store.get(keyOf(sender))
    return bytes === undefined ? 0n : decode(u64, bytes)
  }

  /** The write that says `nonce` is used; it goes to disk with the message itself. */
  used(sender: Address, nonce: bigint): StoreWrite {
    return { key: keyOf(sender), value: encode(u64, nonce + 1n) }
  }
}

function keyOf(sender: Address): Uint8Array {
  return utf8(NEXT_NONCE_PREFIX + sender.toString('f'))
}
