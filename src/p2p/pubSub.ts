/** Publish and subscribe as the topics see it; the host's gossipsub stands behind it. */
import type { PeerName } from './peerLinks.ts'

/** What is to become of a message: passed on, dropped, or dropped with its sender blamed. */
export type Verdict = 'accept' | 'ignore' | 'reject'

/** A message of a topic, its signature checked. */
export interface GossipMessage {
  readonly topic: string
  readonly data: Uint8Array
  /** Who made it. */
  readonly author: PeerName
  /** Who passed it on; of an own message this node. */
  readonly from: PeerName
}

/** Topics: joined with a validator, published to. */
export interface PubSub {
  /**
   * Joins a topic. `validate` decides about each message of others once, before it is passed on.
   * @param isWelcome - asked before the signature is checked; what is not welcome is dropped, its sender not blamed
   * @returns what leaves it
   */
  join(
    topic: string,
    validate: (message: GossipMessage) => Verdict | Promise<Verdict>,
    isWelcome?: (from: PeerName, bytes: number) => boolean,
  ): () => void
  /**
   * @param onLost - called once if all whom it was sent to leave soon after: nobody may have heard it
   * @throws P2pError when the message is too large, or nobody could be told
   */
  publish(topic: string, data: Uint8Array, onLost?: () => void): Promise<void>
  /** Peers in a topic that this node knows of. */
  subscribers(topic: string): readonly PeerName[]
}
