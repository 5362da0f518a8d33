/** Gossipsub with Filecoin's numbers, and what of it its types do not tell. */
import { type GossipSub, type GossipSubComponents, gossipsub, type TopicValidatorResult } from '@libp2p/gossipsub'
import {
  MAX_CONTROL_MESSAGES,
  MAX_EXCHANGED_PEERS,
  MAX_MESSAGE_IDS,
  MAX_UNSENT_BYTES,
  ROUTER_LIMITS,
} from '../gossip/limits.ts'
import { messageId, seenName } from '../gossip/messageId.ts'
import { appScore, BOOTSTRAPPER_ROUTER, PEER_SCORE, ROUTER, THRESHOLDS, type TopicScore } from '../gossip/scores.ts'
import type { PeerName } from '../peerLinks.ts'
import type { IpWhitelist } from '../peers/ipWhitelist.ts'

/** Counters of one peer, as gossipsub keeps them. */
export interface PeerStats {
  readonly connected: boolean
  readonly behaviourPenalty: number
  readonly knownIPs: ReadonlySet<string>
  readonly topics: Readonly<
    Record<
      string,
      {
        readonly inMesh: boolean
        readonly meshTime: number
        readonly firstMessageDeliveries: number
        readonly meshMessageDeliveries: number
        readonly invalidMessageDeliveries: number
      }
    >
  >
}

/** What gossipsub's class has beyond its interface. */
export interface Router extends GossipSub {
  getScore(peer: PeerName): number
  getMeshPeers(topic: string): PeerName[]
  reportMessageValidationResult(messageId: string, from: PeerName, acceptance: TopicValidatorResult): void
  readonly msgIdToStrFn: (id: Uint8Array) => string
  /** Messages heard of in the last two minutes, own ones too: what is in it is not published again. */
  readonly seenCache: { has(messageId: string): boolean; readonly entries: Map<string, unknown> }
  readonly score: { readonly peerStats: ReadonlyMap<PeerName, PeerStats>; readonly scoreCache: Map<PeerName, unknown> }
  /** By topic: until when, by the wall clock, a peer may not be in its mesh. */
  readonly backoff: Map<string, Map<PeerName, number>>
}

/** What distinguishes one node's router from another's. */
export interface RouterOptions {
  /** Nothing else is subscribed to, carried, or remembered of others. */
  readonly topics: readonly string[]
  readonly topicScores: Readonly<Record<string, TopicScore>>
  /** Bootstrap peers: they are believed more. */
  readonly bootstrappers: ReadonlySet<PeerName>
  /** Whether a peer has shown a light node something that holds. */
  readonly hasShown: (peer: PeerName) => boolean
  /** This node is a bootstrapper: it tells of other peers and carries nothing. */
  readonly bootstrapper: boolean
  /** Addresses from which any number of peers may come. */
  readonly ipWhitelist: IpWhitelist
}

const DIRECT_CONNECT_TICKS = 300

/** Gossipsub as a service of libp2p. */
export function createRouter(options: RouterOptions): (components: GossipSubComponents) => GossipSub {
  const { iwantFollowupMs, ...router } = options.bootstrapper ? BOOTSTRAPPER_ROUTER : ROUTER
  return gossipsub({
    ...router,
    gossipsubIWantFollowupMs: iwantFollowupMs,
    directConnectTicks: DIRECT_CONNECT_TICKS,
    globalSignaturePolicy: 'StrictSign',
    msgIdFn: ({ topic, data }) => messageId(topic, data),
    // What was seen is known by its payload alone, before its signature is checked: in a mesh each message comes several times.
    // @see go-libp2p-pubsub pubsub.go pushMsg
    fastMsgIdFn: seenName,
    fallbackToFloodsub: true,
    emitSelf: false,
    // The network knows it already: nothing is lost.
    ignoreDuplicatePublishError: true,
    // Verdicts come from the topics' owners; meanwhile the next message of the peer is looked at. What is read from a
    // peer before its signatures are checked is one envelope: the rest waits in its stream.
    asyncValidation: true,
    awaitRpcHandler: true,
    awaitRpcMessageHandler: true,
    tagMeshPeers: false,
    runOnLimitedConnection: true,
    maxInboundStreams: 2,
    maxOutboundStreams: 2,
    maxInboundDataLength: ROUTER_LIMITS.maxMessageBytes,
    maxOutboundBufferSize: MAX_UNSENT_BYTES,
    allowedTopics: new Set(options.topics),
    decodeRpcLimits: {
      maxSubscriptions: ROUTER_LIMITS.maxSubscriptions,
      maxMessages: MAX_MESSAGE_IDS,
      maxIhaveMessageIDs: MAX_MESSAGE_IDS,
      maxIwantMessageIDs: MAX_MESSAGE_IDS,
      maxIdontwantMessageIDs: MAX_CONTROL_MESSAGES,
      maxControlMessages: MAX_CONTROL_MESSAGES,
      maxPeerInfos: MAX_EXCHANGED_PEERS,
    },
    scoreThresholds: THRESHOLDS,
    scoreParams: {
      ...PEER_SCORE,
      IPColocationFactorWhitelist: options.ipWhitelist,
      appSpecificScore: (peer) =>
        appScore(!options.bootstrapper && options.bootstrappers.has(peer), options.hasShown(peer)),
      topics: { ...options.topicScores },
    },
  })
}
