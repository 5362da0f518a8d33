/**
 * What was sent under which MsgUuid, so that a client that repeats a send after a lost answer does not pay twice.
 * @see lotus chain/messagesigner/messagesigner.go GetSignedMessage, StoreSignedMessage
 */
import { utf8 } from '../base/bytes.ts'
import type { KeyValueStore } from '../base/ports.ts'
import { decode, encode } from '../codec/description.ts'
import { type SignedMessage, signedMessage } from '../types/signedMessage.ts'
import type { StoreWrite } from './groupCommit.ts'
import { SEND_ID_PREFIX } from './storeKeys.ts'

/** Sent messages by id, on disk. */
export class SendIds {
  readonly #store: KeyValueStore

  constructor(store: KeyValueStore) {
    this.#store = store
  }

  find(id: string): SignedMessage | undefined {
    const bytes = this.#store.get(utf8(SEND_ID_PREFIX + id))
    return bytes === undefined ? undefined : decode(signedMessage, bytes)
  }

  /** The write that remembers a send; it goes to disk with the message itself, so no crash can come between. */
  sent(id: string, message: SignedMessage): StoreWrite {
    return { key: utf8(SEND_ID_PREFIX + id), value: encode(signedMessage, message) }
  }
}
