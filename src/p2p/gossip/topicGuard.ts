/** The bounds in front of a topic's validator: of each peer, of all together, of what is under way. */
import type { Breather } from '../../base/breather.ts'
import type { Clock } from '../../base/ports.ts'
import { PeerBudget } from '../peerBudget.ts'
import type { PeerName } from '../peerLinks.ts'
import type { GossipMessage, Verdict } from '../pubSub.ts'
import { ServiceGate } from '../serviceGate.ts'
import { COST_BYTES, type TopicBounds, USELESS_COST } from './limits.ts'
import type { PeerGater } from './peerGater.ts'
import type { Refusal } from './readBlockMsg.ts'

/** What a validator says. */
export type Judgement = { readonly verdict: 'accept' } | Refusal

/** A topic's bounds and its validator. */
export interface TopicGuardDeps {
  readonly bounds: TopicBounds
  readonly clock: Clock
  /** Shared by all topics. */
  readonly gater: PeerGater
  /** Of this topic alone; absent: judging takes no time worth a pause. */
  readonly breather?: Breather
  readonly validate: (received: GossipMessage) => Promise<Judgement>
  /** Hears every verdict: `accept`, or `ignore` or `reject` and why. */
  readonly onVerdict: (outcome: string) => void
}

const ALL = ''

/** What stands in front of a topic. */
export interface TopicGuard {
  /** Whether a peer may bring so many bytes now. */
  isWelcome(this: void, from: PeerName, bytes: number): boolean
  validate(this: void, received: GossipMessage): Promise<Verdict>
}

/** What is above the bounds is ignored unread. */
export function guardTopic(deps: TopicGuardDeps): TopicGuard {
  const { bounds, clock, gater, breather, validate, onVerdict } = deps
  const ofPeer = new PeerBudget(clock, bounds.ofPeer)
  const ofAll = new PeerBudget(clock, bounds.ofAll)
  const gate = new ServiceGate(bounds.gate)
  let waitingBytes = 0

  const drop = (reason: string): Verdict => {
    onVerdict(`ignore ${reason}`)
    return 'ignore'
  }

  const isWelcome = (from: PeerName, bytes: number): boolean => {
    if (ofPeer.has(from, costOf(bytes))) return true
    onVerdict('ignore flood')
    return false
  }

  const guarded = async (received: GossipMessage): Promise<Verdict> => {
    const { from, topic } = received
    const { length } = received.data
    if (!gater.admits(from)) return drop('gated')
    const cost = costOf(length)
    if (!ofPeer.take(from, cost)) return drop('flood')
    const hasRoom = waitingBytes + length <= bounds.waitingBytes && (gater.isUseful(from) || ofAll.take(ALL, cost))
    waitingBytes += length
    const leave = hasRoom ? await gate.enter(from) : undefined
    if (leave === undefined) {
      waitingBytes -= length
      gater.turnedAway()
      return drop('busy')
    }
    try {
      // One packet may bring hundreds: their signatures must not hold up everything else.
      const judged = await (breather === undefined ? validate(received) : breather.run(() => validate(received)))
      const { verdict } = judged
      if (verdict !== 'accept') {
        ofPeer.charge(from, USELESS_COST)
        ofAll.charge(ALL, USELESS_COST)
      }
      gater.judged(from, topic, verdict)
      onVerdict(judged.verdict === 'accept' ? 'accept' : `${judged.verdict} ${judged.reason}`)
      return verdict
    } finally {
      leave()
      waitingBytes -= length
    }
  }
  return { isWelcome, validate: guarded }
}

/** What a payload takes from a budget: a block full of CIDs is as much work as a hundred others. */
function costOf(bytes: number): number {
  return 1 + Math.floor(bytes / COST_BYTES)
}
