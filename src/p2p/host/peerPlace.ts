/** Where a tab finds this node: told by the HTTP server at `/p2p`. */
import { withPeer } from './addresses.ts'
import type { NetService } from './netService.ts'

/** Multiaddrs that a browser can dial: WebSocket and WebRTC-direct; the others are left out. */
export function peerPlace(net: NetService): { readonly peerId: string; readonly addrs: readonly string[] } {
  const { id, addresses } = net.addresses()
  const reachable = addresses.filter((address) => /\/(ws|wss|tls\/ws|webrtc-direct|webtransport)(\/|$)/.test(address))
  return { peerId: id, addrs: reachable.map((address) => withPeer(address, id)) }
}
