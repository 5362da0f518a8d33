/** The id under which gossip knows a message. */
import { concatBytes, latin1, utf8 } from '../../base/bytes.ts'
import { blake2b256 } from '../../crypto/blake2b.ts'

const F3_PREFIX = '/f3/'
const NO_BYTES = new Uint8Array(0)

/**
 * Author and sequence number have no part in it: one payload is one message, whoever publishes it.
 * @returns 32 bytes
 * @see lotus node/modules/lp2p/pubsub.go HashMsgId; go-f3 internal/psutil/psutil.go GPBFTMessageIdFn
 */
export function messageId(topic: string, data: Uint8Array): Uint8Array {
  if (!topic.startsWith(F3_PREFIX)) return blake2b256(data)
  const name = utf8(topic)
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, name.length)
  return blake2b256(concatBytes(length, name, data))
}

/** The name under which a publication that was seen is known again, whatever its signature. */
export function seenName({ topic, data }: { readonly topic: string; readonly data?: Uint8Array }): string {
  return latin1(messageId(topic, data ?? NO_BYTES))
}
