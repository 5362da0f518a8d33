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

  /** The nonce to use: the pool's, or ours where that is ahead. */
  choose(sender: Address, poolNonce: bigint): bigint {
    const bytes = this.#store.get(keyOf(sender))
    if (bytes === undefined) return poolNonce
    const stored = decode(u64, bytes)
    return stored > poolNonce ? stored : poolNonce
  }

  /** The write that says `nonce` is used; it goes to disk with the message itself. */
  used(sender: Address, nonce: bigint): StoreWrite {
    return { key: keyOf(sender), value: encode(u64, nonce + 1n) }
  }
}

function keyOf(sender: Address): Uint8Array {
  return utf8(NEXT_NONCE_PREFIX + sender.toString('f'))
}
