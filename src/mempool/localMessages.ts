/** Our own messages on disk, so that a restart, or a kill at any moment, loses none. */
import { fromUtf8, utf8 } from '../base/bytes.ts'
import type { KeyValueOp, KeyValueStore } from '../base/ports.ts'
import { decode, encode } from '../codec/description.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from '../types/signedMessage.ts'
import { MempoolError } from './errors.ts'
import type { StoreWrite } from './groupCommit.ts'
import type { PooledMessage } from './pooledMessage.ts'
import { LOCAL_MESSAGE_PREFIX } from './storeKeys.ts'

/** @see lotus chain/messagepool/messagepool.go addLocal, loadLocal, Clear */
export class LocalMessages {
  readonly #store: KeyValueStore

  constructor(store: KeyValueStore) {
    this.#store = store
  }

  /** The write that keeps a message. */
  saved({ signed }: PooledMessage): StoreWrite {
    return { key: keyOf(signed), value: encode(signedMessage, signed) }
  }

  /** Every message that was ever saved and not deleted. */
  *load(): Iterable<SignedMessage> {
    for (const key of this.#store.keys(utf8(LOCAL_MESSAGE_PREFIX))) {
      const bytes = this.#store.get(key)
      if (bytes === undefined) continue
      let message: SignedMessage
      try {
        message = decode(signedMessage, bytes)
      } catch (cause) {
        const name = fromUtf8(key)
        throw new MempoolError('STORED_MESSAGE_INVALID', `unmarshaling local message: ${name}`, {}, { cause })
      }
      yield message
    }
  }

  delete(messages: readonly SignedMessage[]): void {
    const operations: KeyValueOp[] = []
    for (const signed of messages) operations.push({ op: 'delete', key: keyOf(signed) })
    if (operations.length > 0) this.#store.batch(operations)
  }
}

function keyOf(signed: SignedMessage): Uint8Array {
  return utf8(LOCAL_MESSAGE_PREFIX + signedMessageCid(signed).toString())
}
