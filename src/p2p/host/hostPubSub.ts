/** Topics over libp2p's gossipsub. */

import type { GossipsubMessage } from '@libp2p/gossipsub'
import { TopicValidatorResult } from '@libp2p/gossipsub'
import { Breather } from '../../base/breather.ts'
import { errorMessage } from '../../base/errors.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import { P2pError } from '../errors.ts'
import { JUDGING_MS, MESSAGES_REST_MS, ROUTER_LIMITS } from '../gossip/limits.ts'
import { messageId } from '../gossip/messageId.ts'
import type { PeerName } from '../peerLinks.ts'
import type { GossipMessage, PubSub, Verdict } from '../pubSub.ts'
import { boundBackoffs } from './boundBackoffs.ts'
import { guardEnvelopes } from './envelopeGuard.ts'
import { GossipStreams } from './gossipStreams.ts'
import { hostError } from './hostErrors.ts'
import { LostMessages } from './lostMessages.ts'
import { onlyPresentPeers } from './presentPeers.ts'
import { retainMisdeeds } from './retainedScores.ts'
import type { Router } from './router.ts'
import { ValidationQueue } from './validationQueue.ts'

/** Share of the validation queue that one peer may take. */
const PER_PEER_SHARE = 4
/** Room for the envelope around the data: author, sequence number, topic, signature. */
const ENVELOPE_BYTES = 1024
/** The clock was set back when it lost this much in a second, ms: a drifting one is brought right in smaller steps. */
const SET_BACK_MS = 1000

const ACCEPTANCE: Readonly<Record<Verdict, TopicValidatorResult>> = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject,
}

type Validate = (message: GossipMessage) => Verdict | Promise<Verdict>
type IsWelcome = (from: PeerName, bytes: number) => boolean

/** The gossip of a started host. */
export class HostPubSub implements PubSub {
  readonly #router: Router
  readonly #log: Logger
  readonly #topics: ReadonlySet<string>
  readonly #validators = new Map<string, Validate>()
  readonly #welcomes = new Map<string, IsWelcome>()
  readonly #lost: LostMessages
  readonly #queue = new ValidationQueue(ROUTER_LIMITS.validationQueue, ROUTER_LIMITS.validationQueue / PER_PEER_SHARE)

  #started = false
  #aheadMs = Number.NEGATIVE_INFINITY

  /** @param topics - those that may be joined @param time - of the pauses between checks of signatures */
  constructor(router: Router, topics: readonly string[], log: Logger, time: { clock: Clock; timers: Timers }) {
    this.#router = router
    this.#log = log
    this.#topics = new Set(topics)
    const isWelcome = (from: PeerName, topic: string, bytes: number): boolean =>
      this.#welcomes.get(topic)?.(from, bytes) ?? true
    guardEnvelopes(router, isWelcome, new Breather(time, JUDGING_MS, MESSAGES_REST_MS))
    onlyPresentPeers(router)
    boundBackoffs(router)
    retainMisdeeds(router)
    this.#lost = new LostMessages(router, time.clock)
    const streams = new GossipStreams(router, time.clock, log)
    router.addEventListener('gossipsub:heartbeat', () => {
      this.#watchClock(time.clock)
      streams.keep()
    })
    router.addEventListener('gossipsub:message', ({ detail }) => this.#receive(detail))
  }

  /** Messages whose verdict is awaited, and how many found no room. */
  get queue(): { readonly size: number; readonly dropped: number } {
    return { size: this.#queue.size, dropped: this.#queue.dropped }
  }

  join(topic: string, validate: Validate, isWelcome?: IsWelcome): () => void {
    if (!this.#topics.has(topic)) throw new P2pError('NOT_SUPPORTED', `not supported: topic ${topic}`, { topic })
    if (this.#validators.has(topic))
      throw new P2pError('NOT_SUPPORTED', `not supported: joining ${topic} twice`, { topic })
    this.#validators.set(topic, validate)
    if (isWelcome !== undefined) this.#welcomes.set(topic, isWelcome)
    if (this.#started) this.#router.subscribe(topic)
    return () => {
      if (this.#validators.get(topic) !== validate) return
      this.#validators.delete(topic)
      this.#welcomes.delete(topic)
      if (this.#started) this.#router.unsubscribe(topic)
    }
  }

  /** The router runs: joins the topics that wait for it. */
  start(): void {
    this.#started = true
    for (const topic of this.#validators.keys()) this.#router.subscribe(topic)
  }

  stop(): void {
    this.#started = false
  }

  async publish(topic: string, data: Uint8Array, onLost?: () => void): Promise<void> {
    if (data.length > ROUTER_LIMITS.maxMessageBytes - ENVELOPE_BYTES) {
      throw new P2pError('TOO_LARGE', `Cannot publish ${data.length} bytes to ${topic}: message too large`, { topic })
    }
    const { seenCache, msgIdToStrFn } = this.#router
    const id = msgIdToStrFn(messageId(topic, data))
    // The network knows it already.
    if (seenCache.has(id)) return
    let recipients: PeerName[]
    try {
      recipients = (await this.#router.publish(topic, data)).recipients.map((peer) => peer.toString())
    } catch (cause) {
      if (errorMessage(cause) !== 'PublishError.NoPeersSubscribedToTopic') {
        throw hostError(`Cannot publish to ${topic}`, cause, 'NOT_STARTED')
      }
      throw new P2pError('NO_PEERS', `Cannot publish to ${topic}: no peer has joined it`, { topic }, { cause })
    }
    if (recipients.length > 0) {
      if (onLost !== undefined) this.#lost.watch(id, recipients, onLost)
      return
    }
    // Else it could not be published again for two minutes.
    seenCache.entries.delete(id)
    throw new P2pError('NO_PEERS', `Cannot publish to ${topic}: it could be sent to no peer`, { topic })
  }

  subscribers(topic: string): readonly PeerName[] {
    return this.#router.getSubscribers(topic).map((peer) => peer.toString())
  }

  /** The router goes by the wall clock: set back, it would keep scores and backoffs as they are for as long. */
  #watchClock(clock: Clock): void {
    const aheadMs = clock.nowMs() - clock.monotonicMs()
    const backMs = this.#aheadMs - aheadMs
    this.#aheadMs = aheadMs
    if (backMs < SET_BACK_MS) return
    const { score, backoff } = this.#router
    score.scoreCache.clear()
    for (const peers of backoff.values()) for (const [peer, untilMs] of peers) peers.set(peer, untilMs - backMs)
  }

  #receive({ msg, msgId, propagationSource }: GossipsubMessage): void {
    const validate = this.#validators.get(msg.topic)
    if (validate === undefined || msg.type !== 'signed') return
    const from = propagationSource.toString()
    const { topic, data } = msg
    const message = { topic, data: asPlain(data), author: msg.from.toString(), from }
    this.#queue
      .run(
        from,
        () => validate(message),
        (error) => this.#log.warn('gossip validator failed', { topic, reason: errorMessage(error) }),
      )
      .then((verdict) => this.#router.reportMessageValidationResult(msgId, from, ACCEPTANCE[verdict]))
      .catch((error: unknown) => this.#log.warn('gossip verdict lost', { topic, reason: errorMessage(error) }))
  }
}

/** A `Buffer` must not enter the core: its `slice` aliases. */
function asPlain(bytes: Uint8Array): Uint8Array {
  if (bytes.constructor === Uint8Array) return bytes
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
