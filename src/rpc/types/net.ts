/**
 * JSON of the Net methods.
 * @see lotus api/types.go, api/api_net.go; go-libp2p core/metrics, core/network; go-libp2p-pubsub score.go
 */
import {
  type Codec,
  int,
  type Json,
  json,
  jsonOnly,
  list,
  listOrEmpty,
  nullable,
  struct,
  text,
} from '../../codec/description.ts'
import { peerName } from './peerId.ts'

/** A map with text keys, sorted as Go prints it. */
function mapOf<T>(inner: Codec<T>): Codec<ReadonlyMap<string, T>> {
  return jsonOnly<ReadonlyMap<string, T>>(
    `map[string]${inner.name}`,
    (value, context) => {
      const out: { [key: string]: Json } = {}
      for (const key of [...value.keys()].sort()) out[key] = inner.toJson(value.get(key) as T, context)
      return out
    },
    (given, context) => {
      const entries = typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.entries(given) : []
      return new Map(entries.map(([key, value]) => [key, inner.fromJson(value, context)]))
    },
    { type: 'object', additionalProperties: inner.schema as Json },
  )
}

/** A number with a fraction. */
export const float: Codec<number> = jsonOnly<number>(
  'float64',
  (value) => value,
  (given) => (typeof given === 'number' ? given : 0),
  { type: 'number' },
)

/** RFC 3339. */
const timeMs: Codec<number> = jsonOnly<number>(
  'time.Time',
  (value) => new Date(value).toISOString(),
  (given) => Date.parse(String(given)),
  { type: 'string', format: 'date-time' },
)

/** Traffic of this node, one peer or one protocol: bytes since the start, and bytes per second. */
export interface BandwidthStats {
  readonly totalIn: number
  readonly totalOut: number
  readonly rateIn: number
  readonly rateOut: number
}

export const bandwidthStats: Codec<BandwidthStats> = struct<BandwidthStats>('metrics.Stats', [
  ['totalIn', 'TotalIn', int],
  ['totalOut', 'TotalOut', int],
  ['rateIn', 'RateIn', float],
  ['rateOut', 'RateOut', float],
])

/** By peer ID or protocol ID. @see lotus api/api_net.go NetBandwidthStatsByPeer, NetBandwidthStatsByProtocol */
export const bandwidthByName: Codec<ReadonlyMap<string, BandwidthStats>> = mapOf(bandwidthStats)

/** Lotus' numbers. */
export const CONNECTEDNESS = { notConnected: 0, connected: 1 } as const
export const REACHABILITY = { unknown: 0, public: 1, private: 2 } as const

/** Whether others can dial this node, and where they saw it. @see lotus api/api_net.go NatInfo */
export interface NatInfo {
  /** One of {@link REACHABILITY}. */
  readonly reachability: number
  readonly publicAddrs: string[]
}

export const natInfo: Codec<NatInfo> = struct<NatInfo>('api.NatInfo', [
  ['reachability', 'Reachability', int],
  ['publicAddrs', 'PublicAddrs', list(text)],
])

/** Whom the connection gater refuses: peer IDs, IP addresses, subnets in CIDR notation. */
export interface NetBlockList {
  readonly peers: string[]
  readonly addresses: string[]
  readonly subnets: string[]
}

export const netBlockList: Codec<NetBlockList> = struct<NetBlockList>('api.NetBlockList', [
  ['peers', 'Peers', listOrEmpty(peerName)],
  ['addresses', 'IPAddrs', list(text)],
  ['subnets', 'IPSubnets', list(text)],
])

interface ConnMgrInfo {
  readonly firstSeenMs: number
  readonly value: number
  readonly tags: ReadonlyMap<string, number>
  /** When each connection was opened, by its remote address. */
  readonly connections: ReadonlyMap<string, number>
}

const connMgrInfo: Codec<ConnMgrInfo> = struct<ConnMgrInfo>('api.ConnMgrInfo', [
  ['firstSeenMs', 'FirstSeen', timeMs],
  ['value', 'Value', int],
  ['tags', 'Tags', mapOf(int)],
  ['connections', 'Conns', mapOf(timeMs)],
])

/** What identify told of a peer, and what the connection manager keeps of it. @see lotus api/types.go ExtendedPeerInfo */
export interface ExtendedPeerInfo {
  readonly id: string
  readonly agent: string
  readonly addresses: string[]
  readonly protocols: string[]
  readonly connMgrMeta: ConnMgrInfo | null
}

export const extendedPeerInfo: Codec<ExtendedPeerInfo> = struct<ExtendedPeerInfo>('api.ExtendedPeerInfo', [
  ['id', 'ID', peerName],
  ['agent', 'Agent', text],
  ['addresses', 'Addrs', list(text)],
  ['protocols', 'Protocols', listOrEmpty(text)],
  ['connMgrMeta', 'ConnMgrMeta', nullable(connMgrInfo)],
])

interface TopicScoreSnapshot {
  readonly timeInMeshNs: number
  readonly firstMessageDeliveries: number
  readonly meshMessageDeliveries: number
  readonly invalidMessageDeliveries: number
}

const topicScoreSnapshot: Codec<TopicScoreSnapshot> = struct<TopicScoreSnapshot>('pubsub.TopicScoreSnapshot', [
  ['timeInMeshNs', 'TimeInMesh', int],
  ['firstMessageDeliveries', 'FirstMessageDeliveries', float],
  ['meshMessageDeliveries', 'MeshMessageDeliveries', float],
  ['invalidMessageDeliveries', 'InvalidMessageDeliveries', float],
])

interface PeerScoreSnapshot {
  readonly score: number
  /** Null when there are none. */
  readonly topics: ReadonlyMap<string, TopicScoreSnapshot> | null
  readonly appSpecificScore: number
  readonly ipColocationFactor: number
  readonly behaviourPenalty: number
}

const peerScoreSnapshot: Codec<PeerScoreSnapshot> = struct<PeerScoreSnapshot>('pubsub.PeerScoreSnapshot', [
  ['score', 'Score', float],
  ['topics', 'Topics', nullable(mapOf(topicScoreSnapshot))],
  ['appSpecificScore', 'AppSpecificScore', float],
  ['ipColocationFactor', 'IPColocationFactor', float],
  ['behaviourPenalty', 'BehaviourPenalty', float],
])

/** A peer's standing in gossip; below the thresholds of its mesh it is not listened to. @see go-libp2p-pubsub score.go */
export interface PubsubScore {
  readonly id: string
  readonly score: PeerScoreSnapshot | null
}

export const pubsubScore: Codec<PubsubScore> = struct<PubsubScore>('api.PubsubScore', [
  ['id', 'ID', peerName],
  ['score', 'Score', nullable(peerScoreSnapshot)],
])

/** Use of one scope of resources. */
export interface ScopeStat {
  readonly streamsInbound: number
  readonly streamsOutbound: number
  readonly connectionsInbound: number
  readonly connectionsOutbound: number
  readonly fileDescriptors: number
  /** Bytes. */
  readonly memory: number
}

const scopeStat: Codec<ScopeStat> = struct<ScopeStat>('network.ScopeStat', [
  ['streamsInbound', 'NumStreamsInbound', int],
  ['streamsOutbound', 'NumStreamsOutbound', int],
  ['connectionsInbound', 'NumConnsInbound', int],
  ['connectionsOutbound', 'NumConnsOutbound', int],
  ['fileDescriptors', 'NumFD', int],
  ['memory', 'Memory', int],
])

/** Only what was asked for is there. */
export interface NetStat {
  readonly system?: ScopeStat
  readonly transient?: ScopeStat
  readonly services?: ReadonlyMap<string, ScopeStat>
  readonly protocols?: ReadonlyMap<string, ScopeStat>
  readonly peers?: ReadonlyMap<string, ScopeStat>
}

const scopes = mapOf(scopeStat)

export const netStat: Codec<NetStat> = jsonOnly<NetStat>(
  'api.NetStat',
  ({ system, transient, services, protocols, peers }, context) => {
    const out: { [key: string]: Json } = {}
    if (system !== undefined) out.System = scopeStat.toJson(system, context)
    if (transient !== undefined) out.Transient = scopeStat.toJson(transient, context)
    if (services !== undefined && services.size > 0) out.Services = scopes.toJson(services, context)
    if (protocols !== undefined && protocols.size > 0) out.Protocols = scopes.toJson(protocols, context)
    if (peers !== undefined && peers.size > 0) out.Peers = scopes.toJson(peers, context)
    return out
  },
  (given, context) => {
    const {
      System: system,
      Transient: transient,
      Services: services,
      Protocols: protocols,
      Peers: peers,
    } = json.fromJson(given, context) as { [key: string]: Json }
    return {
      ...(system === undefined ? {} : { system: scopeStat.fromJson(system, context) }),
      ...(transient === undefined ? {} : { transient: scopeStat.fromJson(transient, context) }),
      ...(services === undefined ? {} : { services: scopes.fromJson(services, context) }),
      ...(protocols === undefined ? {} : { protocols: scopes.fromJson(protocols, context) }),
      ...(peers === undefined ? {} : { peers: scopes.fromJson(peers, context) }),
    }
  },
  { type: 'object', title: 'api.NetStat' },
)

/** Upper bounds of one scope of the resource manager; connections and streams are counted. @see lotus api/types.go NetLimit */
export interface NetLimit {
  /** Bytes; 0 is left out. */
  readonly memory: number
  readonly streams: number
  readonly streamsInbound: number
  readonly streamsOutbound: number
  readonly connections: number
  readonly connectionsInbound: number
  readonly connectionsOutbound: number
  readonly fileDescriptors: number
}

const limits: Codec<NetLimit> = struct<NetLimit>('api.NetLimit', [
  ['memory', 'Memory', int],
  ['streams', 'Streams', int],
  ['streamsInbound', 'StreamsInbound', int],
  ['streamsOutbound', 'StreamsOutbound', int],
  ['connections', 'Conns', int],
  ['connectionsInbound', 'ConnsInbound', int],
  ['connectionsOutbound', 'ConnsOutbound', int],
  ['fileDescriptors', 'FD', int],
])

export const netLimit: Codec<NetLimit> = {
  ...limits,
  toJson: (value, context) => {
    const { Memory: memory, ...rest } = limits.toJson(value, context) as { [key: string]: Json }
    return memory === 0 || memory === undefined ? rest : { Memory: memory, ...rest }
  },
}
