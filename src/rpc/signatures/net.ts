/** Signatures of `Net…`. */
import { bool, int, list, listOrEmpty, text } from '../../codec/description.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import {
  type BandwidthStats,
  bandwidthByName,
  bandwidthStats,
  type ExtendedPeerInfo,
  extendedPeerInfo,
  type NatInfo,
  type NetBlockList,
  type NetLimit,
  type NetStat,
  natInfo,
  netBlockList as netBlockListJson,
  netLimit as netLimitJson,
  netStat as netStatJson,
  type PubsubScore,
  pubsubScore,
} from '../types/net.ts'
import { type AddrInfo, addrInfo, peerName } from '../types/peerId.ts'

export const netPeers: CallSignature<[], AddrInfo[]> = callSignature({
  name: 'NetPeers',
  perm: 'read',
  summary: 'Connected peers, one entry for each connection.',
  params: [],
  result: listOrEmpty(addrInfo),
})

export const id: CallSignature<readonly [], string> = callSignature({
  name: 'ID',
  perm: 'read',
  summary: "The node's peer ID.",
  params: [],
  result: peerName,
})

export const netConnectedness: CallSignature<readonly [Param<string>], number> = callSignature({
  name: 'NetConnectedness',
  perm: 'read',
  summary: 'Whether a peer is connected: 0 no, 1 yes.',
  params: [param('peerId', peerName)],
  result: int,
})

export const netPing: CallSignature<readonly [Param<string>], number> = callSignature({
  name: 'NetPing',
  perm: 'read',
  summary: 'Round trip to a peer, nanoseconds.',
  params: [param('peerId', peerName)],
  result: int,
})

export const netConnect: CallSignature<readonly [Param<AddrInfo>], void> = callSignature({
  name: 'NetConnect',
  perm: 'write',
  summary: 'Connects to a peer.',
  params: [param('peer', addrInfo)],
  result: nothing,
})

export const netAddrsListen: CallSignature<readonly [], AddrInfo> = callSignature({
  name: 'NetAddrsListen',
  perm: 'read',
  summary: 'Where the node is reached.',
  params: [],
  result: addrInfo,
})

export const netDisconnect: CallSignature<readonly [Param<string>], void> = callSignature({
  name: 'NetDisconnect',
  perm: 'write',
  summary: 'Closes the connections to a peer.',
  params: [param('peerId', peerName)],
  result: nothing,
})

export const netFindPeer: CallSignature<readonly [Param<string>], AddrInfo> = callSignature({
  name: 'NetFindPeer',
  perm: 'read',
  summary: 'Where a peer is, as the DHT says.',
  params: [param('peerId', peerName)],
  result: addrInfo,
})

export const netPubsubScores: CallSignature<readonly [], PubsubScore[]> = callSignature({
  name: 'NetPubsubScores',
  perm: 'read',
  summary: 'What gossip thinks of each peer.',
  params: [],
  result: listOrEmpty(pubsubScore),
})

export const netAutoNatStatus: CallSignature<readonly [], NatInfo> = callSignature({
  name: 'NetAutoNatStatus',
  perm: 'read',
  summary: 'Whether others can dial the node: 0 unknown, 1 yes.',
  params: [],
  result: natInfo,
})

export const netAgentVersion: CallSignature<readonly [Param<string>], string> = callSignature({
  name: 'NetAgentVersion',
  perm: 'read',
  summary: 'What software a peer says it runs.',
  params: [param('peerId', peerName)],
  result: text,
})

export const netPeerInfo: CallSignature<readonly [Param<string>], ExtendedPeerInfo> = callSignature({
  name: 'NetPeerInfo',
  perm: 'read',
  summary: 'All that is known of a peer.',
  params: [param('peerId', peerName)],
  result: extendedPeerInfo,
})

export const netBandwidthStats: CallSignature<readonly [], BandwidthStats> = callSignature({
  name: 'NetBandwidthStats',
  perm: 'read',
  summary: 'Bytes in and out, and per second.',
  params: [],
  result: bandwidthStats,
})

export const netBandwidthStatsByPeer: CallSignature<readonly [], ReadonlyMap<string, BandwidthStats>> = callSignature({
  name: 'NetBandwidthStatsByPeer',
  perm: 'read',
  summary: 'Bytes in and out of each peer.',
  params: [],
  result: bandwidthByName,
})

export const netBandwidthStatsByProtocol: CallSignature<
  readonly [],
  ReadonlyMap<string, BandwidthStats>
> = callSignature({
  name: 'NetBandwidthStatsByProtocol',
  perm: 'read',
  summary: 'Bytes in and out of each protocol.',
  params: [],
  result: bandwidthByName,
})

export const netBlockAdd: CallSignature<readonly [Param<NetBlockList>], void> = callSignature({
  name: 'NetBlockAdd',
  perm: 'admin',
  summary: 'Refuses peers, addresses and subnets, and closes their connections.',
  params: [param('acl', netBlockListJson)],
  result: nothing,
})

export const netBlockRemove: CallSignature<readonly [Param<NetBlockList>], void> = callSignature({
  name: 'NetBlockRemove',
  perm: 'admin',
  summary: 'Takes peers, addresses and subnets off the list of those refused.',
  params: [param('acl', netBlockListJson)],
  result: nothing,
})

export const netBlockList: CallSignature<readonly [], NetBlockList> = callSignature({
  name: 'NetBlockList',
  perm: 'read',
  summary: 'Peers, addresses and subnets that are refused.',
  params: [],
  result: netBlockListJson,
})

export const netProtectAdd: CallSignature<readonly [Param<string[]>], void> = callSignature({
  name: 'NetProtectAdd',
  perm: 'admin',
  summary: 'Keeps connections to these peers whatever the limits say.',
  params: [param('acl', list(peerName))],
  result: nothing,
})

export const netProtectRemove: CallSignature<readonly [Param<string[]>], void> = callSignature({
  name: 'NetProtectRemove',
  perm: 'admin',
  summary: 'Takes the protection from these peers.',
  params: [param('acl', list(peerName))],
  result: nothing,
})

export const netProtectList: CallSignature<readonly [], string[]> = callSignature({
  name: 'NetProtectList',
  perm: 'read',
  summary: 'Connected peers that are protected.',
  params: [],
  result: list(peerName),
})

export const netListening: CallSignature<readonly [], boolean> = callSignature({
  name: 'NetListening',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'True, as Lotus always says.',
  aliases: ['net_listening'],
  params: [],
  result: bool,
})

export const netStat: CallSignature<readonly [Param<string>], NetStat> = callSignature({
  name: 'NetStat',
  perm: 'read',
  summary: 'What a scope uses: all, system, transient, svc:…, proto:…, peer:…',
  params: [param('scope', text)],
  result: netStatJson,
})

export const netLimit: CallSignature<readonly [Param<string>], NetLimit> = callSignature({
  name: 'NetLimit',
  perm: 'read',
  summary: 'What a scope may use: system, transient, svc:…, proto:…, peer:…',
  params: [param('scope', text)],
  result: netLimitJson,
})

export const netSetLimit: CallSignature<readonly [Param<string>, Param<NetLimit>], void> = callSignature({
  name: 'NetSetLimit',
  perm: 'admin',
  summary: 'Sets how many connections there may be (Conns of system); other limits are fixed while the node runs.',
  params: [param('scope', text), param('limit', netLimitJson)],
  result: nothing,
})
