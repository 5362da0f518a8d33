/** What carries connections over sockets in Node and Deno: TCP, WebSocket, and circuits through relays. */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { tcp } from '@libp2p/tcp'
import type { HostTransports } from '../../src/p2p/host/hostOptions.ts'
import { boundWebSockets } from './webSocketListener.ts'

/** How long a connection may be silent before it is closed, ms. */
const INACTIVITY_MS = 5 * 60_000

/** Transports without native code. */
export const streamTransports: HostTransports = () => [
  tcp({ inboundSocketInactivityTimeout: INACTIVITY_MS, outboundSocketInactivityTimeout: INACTIVITY_MS }),
  boundWebSockets(),
  circuitRelayTransport(),
]
