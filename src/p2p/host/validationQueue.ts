/**
 * Verdicts under way, with a bound. What comes on top is ignored, as Lotus does; and no peer alone can fill it.
 * @see go-libp2p-pubsub validation.go (WithValidateQueueSize), peer_gater.go
 */

import type { PeerName } from '../peerLinks.ts'
import type { Verdict } from '../pubSub.ts'

/** Counts what waits for a verdict. */
export class ValidationQueue {
  readonly #limit: number
  readonly #perPeer: number
  readonly #waiting = new Map<PeerName, number>()
  #size = 0
  #dropped = 0

  /** @param limit - messages in all @param perPeer - of one peer */
  constructor(limit: number, perPeer: number) {
    this.#limit = limit
    this.#perPeer = perPeer
  }

  get size(): number {
    return this.#size
  }

  /** Messages that found no room. */
  get dropped(): number {
    return this.#dropped
  }

  /** The verdict of `validate`; ignored when there is no room, or when it throws: that is our failure, not the peer's. */
  async run(
    from: PeerName,
    validate: () => Verdict | Promise<Verdict>,
    onFailure: (error: unknown) => void,
  ): Promise<Verdict> {
    const ofPeer = this.#waiting.get(from) ?? 0
    if (this.#size >= this.#limit || ofPeer >= this.#perPeer) {
      this.#dropped++
      return 'ignore'
    }
    this.#size++
    this.#waiting.set(from, ofPeer + 1)
    try {
      return await validate()
    } catch (error) {
      onFailure(error)
      return 'ignore'
    } finally {
      this.#size--
      const left = (this.#waiting.get(from) ?? 1) - 1
      if (left === 0) this.#waiting.delete(from)
      else this.#waiting.set(from, left)
    }
  }
}
