/**
 * Methods about the network side of the node.
 * @see lotus node/impl/net
 */
import { P2pError } from '../../p2p/errors.ts'
import type { ConnectionInfo, NetBounds, NetService, PeerScore, StreamInfo } from '../../p2p/host/netService.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method } from '../method.ts'
import {
  id,
  netAddrsListen,
  netAgentVersion,
  netAutoNatStatus,
  netBandwidthStats,
  netBandwidthStatsByPeer,
  netBandwidthStatsByProtocol,
  netBlockAdd,
  netBlockList,
  netBlockRemove,
  netConnect,
  netConnectedness,
  netDisconnect,
  netFindPeer,
  netLimit,
  netListening,
  netPeerInfo,
  netPeers,
  netPing,
  netProtectAdd,
  netProtectList,
  netProtectRemove,
  netPubsubScores,
  netSetLimit,
  netStat,
} from '../signatures/net.ts'
import {
  CONNECTEDNESS,
  type ExtendedPeerInfo,
  type NetLimit,
  type NetStat,
  type PubsubScore,
  REACHABILITY,
  type ScopeStat,
} from '../types/net.ts'
import { parsePeerName } from '../types/peerId.ts'

const NS_PER_MS = 1_000_000
/** Connections that a host may be told to hold. */
const MIN_CONNECTIONS = 8
const MAX_CONNECTIONS = 65_536

/** The host, or the stand-in of a node without a network. */
export interface NetMethodsDeps {
  readonly net: NetService
}

/** Rows of `Net…` and `ID`. */
export function netMethods({ net }: NetMethodsDeps): MethodRow[] {
  return [...peerMethods(net), ...trafficMethods(net), ...listMethods(net), ...resourceMethods(net)]
}

function peerMethods(net: NetService): MethodRow[] {
  const isConnected = (peer: string): boolean => net.connections().some((connection) => connection.peer === peer)
  return [
    method({
      ...id,
      handler: () => net.id,
    }),
    method({
      ...netConnectedness,
      handler: (peer) => (isConnected(peer) ? CONNECTEDNESS.connected : CONNECTEDNESS.notConnected),
    }),
    method({
      ...netPeers,
      handler: () => net.connections().map(({ peer, address }) => ({ id: peer, addresses: [address] })),
    }),
    method({
      ...netPing,
      handler: async (peer, { signal }) => Math.round((await net.ping(peer, signal)) * NS_PER_MS),
    }),
    method({
      ...netConnect,
      handler: (peer, { signal }) => net.connect(peer, signal),
    }),
    method({
      ...netAddrsListen,
      handler: () => {
        const { id, addresses } = net.addresses()
        return { id, addresses: [...addresses] }
      },
    }),
    method({
      ...netDisconnect,
      handler: (peer) => net.disconnect(peer),
    }),
    method({
      ...netFindPeer,
      handler: async (peer, { signal }) => {
        const { id, addresses } = await net.findPeer(peer, signal)
        return { id, addresses: [...addresses] }
      },
    }),
    method({
      ...netPubsubScores,
      handler: () =>
        net
          .scores()
          .map(scoreSnapshot)
          .sort((a, b) => (a.id < b.id ? 1 : -1)),
    }),
    method({
      ...netAutoNatStatus,
      handler: () => {
        const { status, publicAddresses } = net.reachability()
        return { reachability: REACHABILITY[status], publicAddrs: [...publicAddresses] }
      },
    }),
    method({
      ...netAgentVersion,
      handler: async (peer) => {
        const { agent, connected } = await net.details(peer)
        if (agent === '' && connected === undefined) throw new RpcError('FAILED', 'item not found')
        return agent
      },
    }),
    method({
      ...netPeerInfo,
      handler: (peer) => peerInfo(net, peer),
    }),
  ]
}

function trafficMethods(net: NetService): MethodRow[] {
  return [
    method({
      ...netBandwidthStats,
      handler: () => net.traffic(),
    }),
    method({
      ...netBandwidthStatsByPeer,
      handler: () => net.trafficByPeer(),
    }),
    method({
      ...netBandwidthStatsByProtocol,
      handler: () => net.trafficByProtocol(),
    }),
  ]
}

function listMethods(net: NetService): MethodRow[] {
  return [
    method({
      ...netBlockAdd,
      handler: (items) => net.block(items),
    }),
    method({
      ...netBlockRemove,
      handler: (items) => net.unblock(items),
    }),
    method({
      ...netBlockList,
      handler: () => {
        const { peers, addresses, subnets } = net.blocked()
        return { peers: [...peers], addresses: [...addresses], subnets: [...subnets] }
      },
    }),
    method({
      ...netProtectAdd,
      handler: (peers) => net.protect(peers),
    }),
    method({
      ...netProtectRemove,
      handler: (peers) => net.unprotect(peers),
    }),
    method({
      ...netProtectList,
      handler: () =>
        net
          .connections()
          .map(({ peer }) => peer)
          .filter((peer) => net.isProtected(peer)),
    }),
    method({
      ...netListening,
      handler: () => true,
    }),
  ]
}

function resourceMethods(net: NetService): MethodRow[] {
  return [
    method({
      ...netStat,
      handler: (scope) => scopeUse(net.connections(), scope),
    }),
    method({
      ...netLimit,
      handler: (scope) => scopeLimit(net.bounds, scope),
    }),
    method({
      ...netSetLimit,
      handler: (scope, limit) => setLimit(net, scope, limit),
    }),
  ]
}

function scoreSnapshot(score: PeerScore): PubsubScore {
  const { id, topics, appSpecificScore, ipColocationFactor, behaviourPenalty } = score
  return {
    id,
    score: {
      score: score.score,
      topics:
        topics.length === 0
          ? null
          : new Map(
              topics.map(({ topic, timeInMeshMs, ...counters }) => [
                topic,
                { timeInMeshNs: Math.round(timeInMeshMs) * NS_PER_MS, ...counters },
              ]),
            ),
      appSpecificScore,
      ipColocationFactor,
      behaviourPenalty,
    },
  }
}

async function peerInfo(net: NetService, peer: string): Promise<ExtendedPeerInfo> {
  const { id, agent, addresses, protocols, connected } = await net.details(peer)
  return {
    id,
    agent,
    addresses: [...addresses],
    protocols: [...protocols],
    connMgrMeta:
      connected === undefined
        ? null
        : {
            firstSeenMs: connected.sinceMs,
            value: connected.value,
            tags: connected.tags,
            connections: new Map(connected.connections.map(({ address, openedMs }) => [address, openedMs])),
          },
  }
}

/** @see lotus node/impl/net/rcmgr.go NetStat */
function scopeUse(connections: readonly ConnectionInfo[], scope: string): NetStat {
  const nothingUsed = statOf([], [])
  if (scope === 'transient') return { transient: nothingUsed }
  if (scope === 'system') return { system: connectionsStat(connections) }
  if (scope.startsWith('svc:')) return { services: new Map([[scope.slice('svc:'.length), nothingUsed]]) }
  if (scope.startsWith('proto:')) {
    const protocol = scope.slice('proto:'.length)
    return { protocols: new Map([[protocol, protocolStat(connections, protocol)]]) }
  }
  if (scope.startsWith('peer:')) {
    const peer = parsePeerName(scope.slice('peer:'.length))
    return { peers: new Map([[peer, connectionsStat(connections.filter((connection) => connection.peer === peer))]]) }
  }
  if (scope !== 'all') throw new RpcError('FAILED', `invalid scope ${scope}`)
  const protocols = new Set(connections.flatMap(({ streams }) => streams.map(({ protocol }) => protocol)))
  const peers = new Set(connections.map(({ peer }) => peer))
  return {
    system: connectionsStat(connections),
    transient: nothingUsed,
    protocols: new Map([...protocols].map((protocol) => [protocol, protocolStat(connections, protocol)])),
    peers: new Map(
      [...peers].map((peer) => [peer, connectionsStat(connections.filter((connection) => connection.peer === peer))]),
    ),
  }
}

function connectionsStat(connections: readonly ConnectionInfo[]): ScopeStat {
  return statOf(
    connections,
    connections.flatMap(({ streams }) => streams),
  )
}

function protocolStat(connections: readonly ConnectionInfo[], protocol: string): ScopeStat {
  return statOf(
    [],
    connections.flatMap(({ streams }) => streams.filter((stream) => stream.protocol === protocol)),
  )
}

function statOf(connections: readonly ConnectionInfo[], streams: readonly StreamInfo[]): ScopeStat {
  const inbound = <T extends { readonly direction: string }>(items: readonly T[]): number =>
    items.filter(({ direction }) => direction === 'inbound').length
  return {
    streamsInbound: inbound(streams),
    streamsOutbound: streams.length - inbound(streams),
    connectionsInbound: inbound(connections),
    connectionsOutbound: connections.length - inbound(connections),
    fileDescriptors: connections.filter(({ address }) => address.includes('/tcp/')).length,
    memory: streams.reduce((sum, { bufferedBytes }) => sum + bufferedBytes, 0),
  }
}

/**
 * Sets how many connections there may be; every other bound of a node is fixed while it runs.
 * @see lotus node/impl/net/rcmgr.go NetSetLimit
 */
function setLimit(net: NetService, scope: string, limit: NetLimit): void {
  const before = scopeLimit(net.bounds, scope)
  if (scope !== 'system') throw new P2pError('NOT_SUPPORTED', `not supported: another limit of ${scope}`)
  const { connections } = limit
  if (connections < MIN_CONNECTIONS || connections > MAX_CONNECTIONS) {
    throw new RpcError('FAILED', `Conns must be ${MIN_CONNECTIONS} to ${MAX_CONNECTIONS}`)
  }
  const after = scopeLimit({ ...net.bounds, connections }, scope)
  for (const name of Object.keys(before) as (keyof NetLimit)[]) {
    if (limit[name] !== before[name] && limit[name] !== after[name]) {
      throw new P2pError('NOT_SUPPORTED', `not supported: another limit of ${scope} than Conns (${name})`)
    }
  }
  net.limitConnections(connections)
}

/** @see lotus node/impl/net/rcmgr.go NetLimit */
function scopeLimit(bounds: NetBounds, scope: string): NetLimit {
  const limit = (connections: number, streams: number): NetLimit => ({
    memory: 2 * streams * bounds.streamBuffer,
    streams: 2 * streams,
    streamsInbound: streams,
    streamsOutbound: streams,
    connections,
    connectionsInbound: connections,
    connectionsOutbound: connections,
    fileDescriptors: connections,
  })
  const { connections, connectionsPerPeer, streamsPerConnection, streamsPerProtocol } = bounds
  if (scope === 'system') return limit(connections, connections * streamsPerConnection)
  if (scope === 'transient' || scope.startsWith('svc:')) return limit(0, 0)
  if (scope.startsWith('proto:')) return limit(0, connections * streamsPerProtocol)
  if (scope.startsWith('peer:')) {
    parsePeerName(scope.slice('peer:'.length))
    return limit(connectionsPerPeer, connectionsPerPeer * streamsPerConnection)
  }
  throw new RpcError('FAILED', `invalid scope ${scope}`)
}
