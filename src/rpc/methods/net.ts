/**
 * Methods about the network side of the node.
 * @see lotus node/impl/net
 */
import { bool, int, list, listOrEmpty, text } from '../../codec/description.ts'
import { P2pError } from '../../p2p/errors.ts'
import type { ConnectionInfo, NetService, PeerScore, StreamInfo } from '../../p2p/host/netService.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method, nothing, param } from '../method.ts'
import { netPeers } from '../signatures/net.ts'
import {
  bandwidthByName,
  bandwidthStats,
  CONNECTEDNESS,
  type ExtendedPeerInfo,
  extendedPeerInfo,
  type NetLimit,
  type NetStat,
  natInfo,
  netBlockList,
  netLimit,
  netStat,
  type PubsubScore,
  pubsubScore,
  REACHABILITY,
  type ScopeStat,
} from '../types/net.ts'
import { addrInfo, parsePeerName, peerName } from '../types/peerId.ts'

const NS_PER_MS = 1_000_000

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
      name: 'ID',
      perm: 'read',
      summary: "The node's peer ID.",
      params: [],
      result: peerName,
      handler: () => net.id,
    }),
    method({
      name: 'NetConnectedness',
      perm: 'read',
      summary: 'Whether a peer is connected: 0 no, 1 yes.',
      params: [param('peerId', peerName)],
      result: int,
      handler: (peer) => (isConnected(peer) ? CONNECTEDNESS.connected : CONNECTEDNESS.notConnected),
    }),
    method({
      ...netPeers,
      handler: () => net.connections().map(({ peer, address }) => ({ id: peer, addresses: [address] })),
    }),
    method({
      name: 'NetPing',
      perm: 'read',
      summary: 'Round trip to a peer, nanoseconds.',
      params: [param('peerId', peerName)],
      result: int,
      handler: async (peer, { signal }) => Math.round((await net.ping(peer, signal)) * NS_PER_MS),
    }),
    method({
      name: 'NetConnect',
      perm: 'write',
      summary: 'Connects to a peer.',
      params: [param('peer', addrInfo)],
      result: nothing,
      handler: (peer, { signal }) => net.connect(peer, signal),
    }),
    method({
      name: 'NetAddrsListen',
      perm: 'read',
      summary: 'Where the node is reached.',
      params: [],
      result: addrInfo,
      handler: () => {
        const { id, addresses } = net.addresses()
        return { id, addresses: [...addresses] }
      },
    }),
    method({
      name: 'NetDisconnect',
      perm: 'write',
      summary: 'Closes the connections to a peer.',
      params: [param('peerId', peerName)],
      result: nothing,
      handler: (peer) => net.disconnect(peer),
    }),
    method({
      name: 'NetFindPeer',
      perm: 'read',
      summary: 'Where a peer is, as the DHT says.',
      params: [param('peerId', peerName)],
      result: addrInfo,
      handler: async (peer, { signal }) => {
        const { id, addresses } = await net.findPeer(peer, signal)
        return { id, addresses: [...addresses] }
      },
    }),
    method({
      name: 'NetPubsubScores',
      perm: 'read',
      summary: 'What gossip thinks of each peer.',
      params: [],
      result: listOrEmpty(pubsubScore),
      handler: () =>
        net
          .scores()
          .map(scoreSnapshot)
          .sort((a, b) => (a.id < b.id ? 1 : -1)),
    }),
    method({
      name: 'NetAutoNatStatus',
      perm: 'read',
      summary: 'Whether others can dial the node: 0 unknown, 1 yes.',
      params: [],
      result: natInfo,
      handler: () => {
        const { status, publicAddresses } = net.reachability()
        return { reachability: REACHABILITY[status], publicAddrs: [...publicAddresses] }
      },
    }),
    method({
      name: 'NetAgentVersion',
      perm: 'read',
      summary: 'What software a peer says it runs.',
      params: [param('peerId', peerName)],
      result: text,
      handler: async (peer) => {
        const { agent, connected } = await net.details(peer)
        if (agent === '' && connected === undefined) throw new RpcError('FAILED', 'item not found')
        return agent
      },
    }),
    method({
      name: 'NetPeerInfo',
      perm: 'read',
      summary: 'All that is known of a peer.',
      params: [param('peerId', peerName)],
      result: extendedPeerInfo,
      handler: (peer) => peerInfo(net, peer),
    }),
  ]
}

function trafficMethods(net: NetService): MethodRow[] {
  return [
    method({
      name: 'NetBandwidthStats',
      perm: 'read',
      summary: 'Bytes in and out, and per second.',
      params: [],
      result: bandwidthStats,
      handler: () => net.traffic(),
    }),
    method({
      name: 'NetBandwidthStatsByPeer',
      perm: 'read',
      summary: 'Bytes in and out of each peer.',
      params: [],
      result: bandwidthByName,
      handler: () => net.trafficByPeer(),
    }),
    method({
      name: 'NetBandwidthStatsByProtocol',
      perm: 'read',
      summary: 'Bytes in and out of each protocol.',
      params: [],
      result: bandwidthByName,
      handler: () => net.trafficByProtocol(),
    }),
  ]
}

function listMethods(net: NetService): MethodRow[] {
  return [
    method({
      name: 'NetBlockAdd',
      perm: 'admin',
      summary: 'Refuses peers, addresses and subnets, and closes their connections.',
      params: [param('acl', netBlockList)],
      result: nothing,
      handler: (items) => net.block(items),
    }),
    method({
      name: 'NetBlockRemove',
      perm: 'admin',
      summary: 'Takes peers, addresses and subnets off the list of those refused.',
      params: [param('acl', netBlockList)],
      result: nothing,
      handler: (items) => net.unblock(items),
    }),
    method({
      name: 'NetBlockList',
      perm: 'read',
      summary: 'Peers, addresses and subnets that are refused.',
      params: [],
      result: netBlockList,
      handler: () => {
        const { peers, addresses, subnets } = net.blocked()
        return { peers: [...peers], addresses: [...addresses], subnets: [...subnets] }
      },
    }),
    method({
      name: 'NetProtectAdd',
      perm: 'admin',
      summary: 'Keeps connections to these peers whatever the limits say.',
      params: [param('acl', list(peerName))],
      result: nothing,
      handler: (peers) => net.protect(peers),
    }),
    method({
      name: 'NetProtectRemove',
      perm: 'admin',
      summary: 'Takes the protection from these peers.',
      params: [param('acl', list(peerName))],
      result: nothing,
      handler: (peers) => net.unprotect(peers),
    }),
    method({
      name: 'NetProtectList',
      perm: 'read',
      summary: 'Connected peers that are protected.',
      params: [],
      result: list(peerName),
      handler: () =>
        net
          .connections()
          .map(({ peer }) => peer)
          .filter((peer) => net.isProtected(peer)),
    }),
    method({
      name: 'NetListening',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'True, as Lotus always says.',
      aliases: ['net_listening'],
      params: [],
      result: bool,
      handler: () => true,
    }),
  ]
}

function resourceMethods(net: NetService): MethodRow[] {
  return [
    method({
      name: 'NetStat',
      perm: 'read',
      summary: 'What a scope uses: all, system, transient, svc:…, proto:…, peer:…',
      params: [param('scope', text)],
      result: netStat,
      handler: (scope) => scopeUse(net.connections(), scope),
    }),
    method({
      name: 'NetLimit',
      perm: 'read',
      summary: 'What a scope may use: system, transient, svc:…, proto:…, peer:…',
      params: [param('scope', text)],
      result: netLimit,
      handler: (scope) => scopeLimit(net, scope),
    }),
    method({
      name: 'NetSetLimit',
      perm: 'admin',
      summary: 'Not supported: limits are given when the node starts.',
      params: [param('scope', text), param('limit', netLimit)],
      result: nothing,
      handler: () => {
        throw new P2pError('NOT_SUPPORTED', 'not supported: limits of a running node')
      },
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
    return { peers: new Map([[peer, connectionsStat(connections.filter((one) => one.peer === peer))]]) }
  }
  if (scope !== 'all') throw new RpcError('FAILED', `invalid scope ${scope}`)
  const protocols = new Set(connections.flatMap(({ streams }) => streams.map(({ protocol }) => protocol)))
  const peers = new Set(connections.map(({ peer }) => peer))
  return {
    system: connectionsStat(connections),
    transient: nothingUsed,
    protocols: new Map([...protocols].map((protocol) => [protocol, protocolStat(connections, protocol)])),
    peers: new Map([...peers].map((peer) => [peer, connectionsStat(connections.filter((one) => one.peer === peer))])),
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

/** @see lotus node/impl/net/rcmgr.go NetLimit */
function scopeLimit({ bounds }: NetService, scope: string): NetLimit {
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
