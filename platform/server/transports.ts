/**
 * What carries connections in Node and Deno: sockets, and WebRTC-direct for tabs. Measured: each listens and dials in both
 * runtimes. The native library below WebRTC crashes when two threads of a process load it: one host for each process.
 */
import { webRTCDirect } from '@libp2p/webrtc'
import type { HostTransports } from '../../src/p2p/host/hostOptions.ts'
import { streamTransports } from './streamTransports.ts'

/** Transports of a process. */
export const nodeTransports: HostTransports = (certificate) => [
  ...streamTransports(certificate),
  // The default list of ICE servers asks strangers for our address: WebRTC-direct needs nobody.
  webRTCDirect({ certificate, rtcConfiguration: { iceServers: [] } }),
]
