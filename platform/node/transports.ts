/**
 * What carries connections in Node and Deno: TCP, WebSocket, WebRTC-direct, and circuits through relays. Measured: each
 * listens and dials in both runtimes.
 */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { tcp } from '@libp2p/tcp'
import { webRTCDirect } from '@libp2p/webrtc'
import { webSockets } from '@libp2p/websockets'
import type { HostTransports } from '../../src/p2p/host/hostOptions.ts'

/** How long a write may wait for a peer that does not read before its connection is closed, ms. */
const INACTIVITY_MS = 5 * 60_000

/** Transports of a process. */
export const nodeTransports: HostTransports = (certificate) => [
  tcp({ inboundSocketInactivityTimeout: INACTIVITY_MS, outboundSocketInactivityTimeout: INACTIVITY_MS }),
  webSockets(),
  // The default list of ICE servers asks strangers for our address: WebRTC-direct needs nobody.
  webRTCDirect({ certificate, rtcConfiguration: { iceServers: [] } }),
  circuitRelayTransport(),
]
