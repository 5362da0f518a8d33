/** What carries connections in a tab: WebTransport, WebSocket, WebRTC-direct to nodes, circuits and WebRTC to other tabs. */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { webRTC, webRTCDirect } from '@libp2p/webrtc'
import { webSockets } from '@libp2p/websockets'
import type { HostTransports } from '../../src/p2p/host/hostOptions.ts'
import { tabWebTransport } from './webTransport.ts'

/** Where a tab listens: it is called through relays. */
export const TAB_LISTEN: readonly string[] = ['/p2p-circuit', '/webrtc']

/**
 * Transports of a tab.
 * @param iceServers - STUN servers that tell tabs behind routers their outer address; none are asked by default
 */
export function tabTransports(iceServers: readonly { urls: string }[] = []): HostTransports {
  return () => [
    webSockets(),
    tabWebTransport(),
    webRTCDirect({ rtcConfiguration: { iceServers: [] } }),
    webRTC({ rtcConfiguration: { iceServers: [...iceServers] } }),
    circuitRelayTransport(),
  ]
}
