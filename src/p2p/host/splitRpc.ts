/**
 * RPCs of gossip that are longer than others read: a peer may ask for many messages at once, and go-libp2p-pubsub resets the stream of
 * who answers with more than 1 MiB in one piece.
 * @see go-libp2p-pubsub pubsub.go RPC.split; comm.go handleNewStream
 */
import { RPC } from '@libp2p/gossipsub/message'

/** A field's number, and the length of what is in it, at most. */
const FIELD_BYTES = 4

/**
 * The parts that an RPC is sent in: itself where it is short enough, else all but its messages, then these, as many at a time as fit.
 * A message that is too long by itself stays whole.
 * @param limit - longest part, bytes
 */
export function splitRpc(bytes: Uint8Array, limit: number): readonly Uint8Array[] {
  if (bytes.length <= limit) return [bytes]
  const { messages, ...others } = RPC.decode(bytes)
  const rest = RPC.encode({ ...others, messages: [] })
  const parts = rest.length === 0 ? [] : [rest]
  let group: RPC.Message[] = []
  let size = 0
  const send = (): void => {
    if (group.length > 0) parts.push(RPC.encode({ subscriptions: [], messages: group }))
    group = []
    size = 0
  }
  for (const message of messages) {
    const length = FIELD_BYTES + RPC.Message.encode(message).length
    if (size + length > limit) send()
    group.push(message)
    size += length
  }
  send()
  return parts
}
