/** Messages on disk that were pushed here, so that a restart, or a kill at any moment, loses none. */
import { fromUtf8, utf8 } from '../base/bytes.ts'
import type { KeyValueOp, KeyValueStore } from '../base/ports.ts'
import { decode, encode } from '../codec/description.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from '../types/signedMessage.ts'
import { MempoolError } from './errors.ts'
import type { StoreWrite } from './groupCommit.ts'
import { MAX_STRANGERS_KEPT } from './limits.ts'
import type { PooledMessage } from './pooledMessage.ts'
import { LOCAL_MESSAGE_PREFIX, STRANGER_MESSAGE_PREFIX } from './storeKeys.ts'

/** A message from disk. */
export interface KeptMessage {
  readonly signed: SignedMessage
  /** Who pushed it needed no token. */
  readonly ofStranger: boolean
}

/** @see lotus chain/messagepool/messagepool.go addLocal, loadLocal, Clear */
export class LocalMessages {
  readonly #store: KeyValueStore
  /** CIDs of strangers' messages on disk. */
  readonly #strangers = new Set<string>()

  constructor(store: KeyValueStore) {
    this.#store = store
    const prefix = utf8(STRANGER_MESSAGE_PREFIX)
    for (const key of store.keys(prefix)) this.#strangers.add(fromUtf8(key.subarray(prefix.length)))
  }

  /** The write that keeps a message; undefined: so many of strangers are kept already. */
  saved({ signed }: Pick<PooledMessage, 'signed'>, ofStranger: boolean): StoreWrite | undefined {
    if (!ofStranger) return { key: keyOf(signed, false), value: encode(signedMessage, signed) }
    if (this.#strangers.size >= MAX_STRANGERS_KEPT) return undefined
    this.#strangers.add(String(signedMessageCid(signed)))
    return { key: keyOf(signed, true), value: encode(signedMessage, signed) }
  }

  /** The keys under which a message is kept, if it is. */
  keysOf({ signed }: Pick<PooledMessage, 'signed'>): readonly Uint8Array[] {
    return [keyOf(signed, false), keyOf(signed, true)]
  }

  /**
   * Every message that was ever saved and not deleted. Of two with one nonce the one that pays more: it replaced the other, which
   * earlier versions left on disk.
   */
  load(): readonly KeptMessage[] {
    const kept = new Map<string, KeptMessage>()
    const replaced: SignedMessage[] = []
    for (const found of [...this.#read(false), ...this.#read(true)]) {
      const { from, nonce, gasPremium } = found.signed.message
      const place = `${from} ${nonce}`
      const other = kept.get(place)
      const isBetter = other === undefined || other.signed.message.gasPremium < gasPremium
      if (isBetter) kept.set(place, found)
      const worse = isBetter ? other : found
      if (worse !== undefined) replaced.push(worse.signed)
    }
    this.delete(replaced)
    return [...kept.values()]
  }

  *#read(ofStranger: boolean): Iterable<KeptMessage> {
    for (const key of this.#store.keys(utf8(prefixOf(ofStranger)))) {
      const bytes = this.#store.get(key)
      if (bytes === undefined) continue
      try {
        yield { signed: decode(signedMessage, bytes), ofStranger }
      } catch (cause) {
        const name = fromUtf8(key)
        throw new MempoolError('STORED_MESSAGE_INVALID', `unmarshaling local message: ${name}`, {}, { cause })
      }
    }
  }

  delete(messages: readonly SignedMessage[]): void {
    const operations: KeyValueOp[] = []
    for (const signed of messages) {
      for (const key of this.keysOf({ signed })) operations.push({ op: 'delete', key })
      this.isGone({ signed })
    }
    if (operations.length > 0) this.#store.batch(operations)
  }

  /** A message is on disk no more, or never came there. */
  isGone({ signed }: Pick<PooledMessage, 'signed'>): void {
    this.#strangers.delete(String(signedMessageCid(signed)))
  }
}

function prefixOf(ofStranger: boolean): string {
  return ofStranger ? STRANGER_MESSAGE_PREFIX : LOCAL_MESSAGE_PREFIX
}

function keyOf(signed: SignedMessage, ofStranger: boolean): Uint8Array {
  return utf8(prefixOf(ofStranger) + String(signedMessageCid(signed)))
}
