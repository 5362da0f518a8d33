/** Multiaddrs as text. */
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { P2pError } from '../errors.ts'
import type { PeerName } from '../peerLinks.ts'

/** @throws P2pError `BAD_ADDRESS` */
export function parseAddress(text: string): Multiaddr {
  try {
    return multiaddr(text)
  } catch (cause) {
    throw new P2pError('BAD_ADDRESS', `failed to parse multiaddr "${text}"`, { address: text }, { cause })
  }
}

/** The peer at the end of an address (behind a relay: not the relay); undefined when it names none. */
export function peerOfAddress(text: string): PeerName | undefined {
  let last: string | undefined
  for (const { name, value } of parseAddress(text).getComponents()) {
    if (name === 'p2p') last = value
    else if (name === 'p2p-circuit') last = undefined
  }
  return last
}

/** An address without the peer at its end. */
export function withoutPeer(address: string, peer: PeerName): string {
  const suffix = `/p2p/${peer}`
  return address.endsWith(suffix) ? address.slice(0, -suffix.length) : address
}

/** An address with the peer at its end. */
export function withPeer(address: string, peer: PeerName): string {
  return `${withoutPeer(address, peer)}/p2p/${peer}`
}
