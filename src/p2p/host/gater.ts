/** Whom the host talks to: nobody who is banned or on the operator's list, no stranger when it is full. */
import type { ConnectionGater } from '@libp2p/interface'
import type { PeerName } from '../peerLinks.ts'
import type { Bans } from '../peers/bans.ts'
import type { BlockList } from '../peers/blockList.ts'

/** The IP address in front of a multiaddr; undefined for names and circuits. */
export function ipOfAddress(address: string): string | undefined {
  const [, kind, value, next, ip] = address.split('/')
  if (kind === 'ip4' || kind === 'ip6') return value
  return kind === 'ip6zone' && next === 'ip6' ? ip : undefined
}

/**
 * libp2p's gater over our lists. Private addresses may be dialled: a local chain has no others.
 * @param isFull - whether there is no room for whoever comes by himself
 */
export function createGater(bans: Bans, blocked: BlockList, isFull: () => boolean): ConnectionGater {
  const refusesPeer = (peer: PeerName): boolean => blocked.hasPeer(peer) || bans.isBanned(peer)
  const refusesAddress = (address: string): boolean => {
    const ip = ipOfAddress(address)
    return ip !== undefined && blocked.hasAddress(ip)
  }
  return {
    denyDialPeer: (peer) => refusesPeer(peer.toString()),
    denyDialMultiaddr: (address) => refusesAddress(address.toString()),
    denyInboundConnection: (connection) => isFull() || refusesAddress(connection.remoteAddr.toString()),
    // Handshakes that began together end together.
    denyInboundUpgradedConnection: () => isFull(),
    denyInboundEncryptedConnection: (peer) => refusesPeer(peer.toString()),
    denyInboundRelayReservation: (peer) => refusesPeer(peer.toString()),
    denyOutboundRelayedConnection: (source, destination) =>
      refusesPeer(source.toString()) || refusesPeer(destination.toString()),
    denyInboundRelayedConnection: (relay, peer) => refusesPeer(relay.toString()) || refusesPeer(peer.toString()),
    filterMultiaddrForPeer: () => true,
  }
}
