/** The bounds in front of a topic's validator: of each peer, of all together, of what is under way. */
import type { Breather } from '../../base/breather.ts'
import type { Clock } from '../../base/ports.ts'
import { PeerBudget } from '../peerBudget.ts'
import type { GossipMessage, Verdict } from '../pubSub.ts'
import { ServiceGate } from '../serviceGate.ts'
import { COST_BYTES, type TopicBounds, USELESS_COST } from './limits.ts'
import type { PeerGater } from './peerGater.ts'
import type { Refusal } from './readBlockMsg.ts'

/** What a validator says. */
export type Judgement = { readonly verdict: 'accept' } | Refusal

export interface TopicGuardDeps {
  readonly bounds: TopicBounds
  readonly clock: Clock
  /** Shared by all topics. */
  readonly gater: PeerGater
  /** Shared by all topics; absent: judging takes no time worth a pause. */
  readonly breather?: Breather
  readonly validate: (received: GossipMessage) => Promise<Judgement>
  /** Hears every verdict: `accept`, or `ignore` or `reject` and why. */
  readonly onVerdict: (outcome: string) => void
}

const ALL = ''

/** What is above the bounds is ignored unread. */
export function guardTopic(deps: TopicGuardDeps): (received: GossipMessage) => Promise<Verdict> {
  const { bounds, clock, gater, breather, validate, onVerdict } = deps
  const ofPeer = new PeerBudget(clock, bounds.ofPeer)
  const ofAll = new PeerBudget(clock, bounds.ofAll)
  const gate = new ServiceGate(bounds.gate)

  const drop = (reason: string): Verdict => {
    onVerdict(`ignore ${reason}`)
    return 'ignore'
  }

  return async (received) => {
    const { from, topic } = received
    if (!gater.admits(from)) return drop('gated')
    const cost = costOf(received.data)
    if (!ofPeer.take(from, cost)) return drop('flood')
    const hasRoom = gater.isUseful(from) || ofAll.take(ALL, cost)
    const leave = hasRoom ? await gate.enter(from) : undefined
    if (leave === undefined) {
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
    }
  }
}

/** What a payload takes from a budget: a block full of CIDs is as much work as a hundred others. */
function costOf(data: Uint8Array): number {
  return 1 + Math.floor(data.length / COST_BYTES)
}
