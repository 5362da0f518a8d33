/**
 * What is done before the signature of a gossiped envelope is checked, which costs more than most other things about a message:
 * those of a peer that has had its share are dropped, and the checks of all together keep nothing else waiting for long.
 *
 * Gossipsub reads a peer's next message when it has looked at the one before. All that is in the streams' windows already it would
 * look at in one turn of the event loop: thousands of messages, seconds.
 * @see go-libp2p-pubsub validation.go Push (its queue, and threads of their own)
 */
import type { Breather } from '../../base/breather.ts'
import { P2pError } from '../errors.ts'
import { messageId } from '../gossip/messageId.ts'
import type { PeerName } from '../peerLinks.ts'
import type { Router } from './router.ts'

/** A publication as it came, nothing of it checked. */
interface RawEnvelope {
  readonly topic: string
  readonly data?: Uint8Array
}

/** What gossipsub's class makes of an envelope. */
type Receive = (source: { toString(): string }, envelope: RawEnvelope) => Promise<unknown>

/** The parts of gossipsub's class that its types keep private. */
interface Receiver {
  validateReceivedMessage?: Receive
  readonly msgIdToStrFn: (id: Uint8Array) => string
}

const NO_BYTES = new Uint8Array(0)

/**
 * Puts a guard before a router's checks.
 * @param isWelcome - whether a peer may bring so many bytes now
 * @throws P2pError `NOT_SUPPORTED` where the library has no such door: it must not be left open unseen
 */
export function guardEnvelopes(
  router: Router,
  isWelcome: (from: PeerName, topic: string, bytes: number) => boolean,
  breather: Breather,
): void {
  const receiver = router as unknown as Receiver
  const receive = receiver.validateReceivedMessage
  if (typeof receive !== 'function') throw new P2pError('NOT_SUPPORTED', 'this gossipsub checks envelopes elsewhere')
  receiver.validateReceivedMessage = async (source, envelope) => {
    const { topic, data = NO_BYTES } = envelope
    if (!isWelcome(source.toString(), topic, data.length)) {
      // Gossipsub's word for what is dropped without blame, and without being remembered.
      return { code: 'invalid', reason: 'blacklisted', msgIdStr: receiver.msgIdToStrFn(messageId(topic, data)) }
    }
    return breather.run(() => receive.call(router, source, envelope))
  }
}
