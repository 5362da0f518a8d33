/**
 * Gossipsub's numbers as plain data: the router, the thresholds, what a peer gains and loses. All of them are Lotus',
 * so that this node judges others as it is judged. Names are those of gossipsub; times are in milliseconds.
 * @see lotus node/modules/lp2p/pubsub.go GossipSub
 */
import { blocksTopic, messagesTopic } from './topics.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Counters are lowered this often, and count as zero below {@link DECAY_TO_ZERO}. */
const DECAY_INTERVAL = SECOND
const DECAY_TO_ZERO = 0.01

/** How many peers the router keeps and tells. */
export interface RouterParams {
  /** Peers in a topic's mesh: wanted, least, most. */
  readonly D: number
  readonly Dlo: number
  readonly Dhi: number
  /** Of a mesh that is cut, peers kept for their score, and peers that this node dialled. */
  readonly Dscore: number
  readonly Dout: number
  /** Peers outside the mesh that are told of messages at each heartbeat: at least so many, and this share. */
  readonly Dlazy: number
  readonly gossipFactor: number
  readonly heartbeatInterval: number
  /** Heartbeats that messages are kept for, and told of. */
  readonly mcacheLength: number
  readonly mcacheGossip: number
  /** A message that was announced and asked for must arrive within this time. */
  readonly iwantFollowupMs: number
  readonly directConnectInitialDelay: number
  readonly seenTTL: number
  readonly pruneBackoff: number
  readonly floodPublish: boolean
  /** Tell peers that are turned away whom else to ask. */
  readonly doPX: boolean
}

/** Of all nodes but bootstrappers. */
export const ROUTER: RouterParams = {
  D: 8,
  Dlo: 6,
  Dhi: 12,
  Dscore: 6,
  Dout: 3,
  Dlazy: 12,
  gossipFactor: 0.1,
  heartbeatInterval: SECOND,
  mcacheLength: 10,
  mcacheGossip: 3,
  iwantFollowupMs: 5 * SECOND,
  directConnectInitialDelay: 30 * SECOND,
  seenTTL: 120 * SECOND,
  pruneBackoff: MINUTE,
  floodPublish: true,
  doPX: false,
}

/** A bootstrapper keeps nobody in its mesh: it tells of messages and of other peers. */
export const BOOTSTRAPPER_ROUTER: RouterParams = {
  ...ROUTER,
  D: 0,
  Dlo: 0,
  Dhi: 0,
  Dscore: 0,
  Dout: 0,
  Dlazy: 64,
  gossipFactor: 0.25,
  pruneBackoff: 5 * MINUTE,
  doPX: true,
}

/** Score below which a peer gets no gossip, no messages, no attention; above which its advice is taken. */
export interface ScoreThresholds {
  readonly gossipThreshold: number
  readonly publishThreshold: number
  readonly graylistThreshold: number
  readonly acceptPXThreshold: number
  readonly opportunisticGraftThreshold: number
}

/** A peer starts at 0. As its score falls it loses gossip, then messages, then all attention. */
export const THRESHOLDS: ScoreThresholds = {
  gossipThreshold: -500,
  publishThreshold: -1000,
  graylistThreshold: -2500,
  acceptPXThreshold: 1000,
  opportunisticGraftThreshold: 3.5,
}

/** What one topic adds to a peer's score: `topicWeight` times the sum of the others. */
export interface TopicScore {
  readonly topicWeight: number
  readonly timeInMeshWeight: number
  readonly timeInMeshQuantum: number
  readonly timeInMeshCap: number
  readonly firstMessageDeliveriesWeight: number
  readonly firstMessageDeliveriesDecay: number
  readonly firstMessageDeliveriesCap: number
  readonly meshMessageDeliveriesWeight: number
  readonly meshMessageDeliveriesDecay: number
  readonly meshMessageDeliveriesCap: number
  readonly meshMessageDeliveriesThreshold: number
  readonly meshMessageDeliveriesWindow: number
  readonly meshMessageDeliveriesActivation: number
  readonly meshFailurePenaltyWeight: number
  readonly meshFailurePenaltyDecay: number
  readonly invalidMessageDeliveriesWeight: number
  readonly invalidMessageDeliveriesDecay: number
}

/** Off on every topic: too few messages, and a network too small, to expect a share of them from each peer. */
const NO_MESH_DELIVERIES = {
  meshMessageDeliveriesWeight: 0,
  meshMessageDeliveriesDecay: 0,
  meshMessageDeliveriesCap: 0,
  meshMessageDeliveriesThreshold: 0,
  meshMessageDeliveriesWindow: 0,
  meshMessageDeliveriesActivation: 0,
  meshFailurePenaltyWeight: 0,
  meshFailurePenaltyDecay: 0,
}

/** n rejected messages cost 0.1 x 1000 n². */
const INVALID_MESSAGES = {
  invalidMessageDeliveriesWeight: -1000,
  invalidMessageDeliveriesDecay: decayOver(HOUR),
}

/** What a peer gains and loses by blocks. */
const BLOCKS_SCORE: TopicScore = {
  topicWeight: 0.1,
  timeInMeshWeight: 0.00027,
  timeInMeshQuantum: SECOND,
  timeInMeshCap: 1,
  firstMessageDeliveriesWeight: 5,
  firstMessageDeliveriesDecay: decayOver(HOUR),
  firstMessageDeliveriesCap: 100,
  ...NO_MESH_DELIVERIES,
  ...INVALID_MESSAGES,
}

/** What a peer gains and loses by messages: a tenth of a block's worth for being first. */
const MESSAGES_SCORE: TopicScore = {
  topicWeight: 0.1,
  timeInMeshWeight: 0.0002778,
  timeInMeshQuantum: SECOND,
  timeInMeshCap: 1,
  firstMessageDeliveriesWeight: 0.5,
  firstMessageDeliveriesDecay: decayOver(10 * MINUTE),
  firstMessageDeliveriesCap: 100,
  ...NO_MESH_DELIVERIES,
  ...INVALID_MESSAGES,
}

/** The scores of a network's topics, by name. */
export function topicScores(networkName: string): Record<string, TopicScore> {
  return { [blocksTopic(networkName)]: BLOCKS_SCORE, [messagesTopic(networkName)]: MESSAGES_SCORE }
}

/** What no topic knows of. */
export interface PeerScore {
  /** No bound for the sum of the topics (js-libp2p would put 10). */
  readonly topicScoreCap: number
  readonly appSpecificWeight: number
  readonly IPColocationFactorWeight: number
  readonly IPColocationFactorThreshold: number
  readonly behaviourPenaltyWeight: number
  readonly behaviourPenaltyThreshold: number
  readonly behaviourPenaltyDecay: number
  readonly decayInterval: number
  readonly decayToZero: number
  /** A peer's misdeeds outlast its connection by this much. */
  readonly retainScore: number
}

/** What counts besides topics: the application's own score, shared addresses, breaches of the protocol. */
export const PEER_SCORE: PeerScore = {
  topicScoreCap: 0,
  appSpecificWeight: 1,
  IPColocationFactorWeight: -100,
  IPColocationFactorThreshold: 5,
  behaviourPenaltyWeight: -10,
  behaviourPenaltyThreshold: 6,
  behaviourPenaltyDecay: decayOver(HOUR),
  decayInterval: DECAY_INTERVAL,
  decayToZero: DECAY_TO_ZERO,
  retainScore: 6 * HOUR,
}

/** The application's own part of the score of a bootstrap peer, on nodes that are not bootstrappers. */
const BOOTSTRAPPER_APP_SCORE = 2500

/**
 * The same of a peer that has shown a light node something that holds: as much as twenty first deliveries of blocks. Those are counted of
 * messages that are passed on, and a light node passes no block on: who brings it its heads would be worth no more to it than any stranger.
 */
const SHOWN_APP_SCORE = 10

/** The application's own part of a peer's score. */
export function appScore(isBootstrapper: boolean, hasShown: boolean): number {
  return (isBootstrapper ? BOOTSTRAPPER_APP_SCORE : 0) + (hasShown ? SHOWN_APP_SCORE : 0)
}

/** When the validation queue overflows: from whom less is taken. */
export interface PeerGater {
  /** Share of throttled messages that turns it on. */
  readonly threshold: number
  /** Decay of the counters of all peers together, and of one address. */
  readonly globalDecay: number
  readonly sourceDecay: number
  readonly decayInterval: number
  readonly decayToZero: number
  /** What a delivered message counts for, by topic. */
  readonly topicWeights: Record<string, number>
}

/**
 * Values of the gater on one network.
 * @param bootstrapper - who meets many peers for short, and forgets sooner what they did
 */
export function peerGater(networkName: string, bootstrapper: boolean): PeerGater {
  return {
    threshold: 0.33,
    globalDecay: decayOver(2 * MINUTE),
    sourceDecay: decayOver(bootstrapper ? 10 * MINUTE : HOUR),
    decayInterval: DECAY_INTERVAL,
    decayToZero: DECAY_TO_ZERO,
    topicWeights: { [blocksTopic(networkName)]: 10, [messagesTopic(networkName)]: 1 },
  }
}

/**
 * The factor that takes a counter of 1 down to zero in a time.
 * @param ms - the time
 * @see go-libp2p-pubsub score_params.go ScoreParameterDecay
 */
function decayOver(ms: number): number {
  return DECAY_TO_ZERO ** (DECAY_INTERVAL / ms)
}
