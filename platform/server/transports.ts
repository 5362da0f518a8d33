/**
 * What carries connections in Node and Deno: sockets, and WebRTC-direct for tabs. Measured: each listens and dials in both
 * runtimes. The native library below WebRTC crashes when two threads of a process load it: one host for each process.
 */
import { webRTCDirect } from '@libp2p/webrtc'
import type { HostTransports } from '../../src/p2p/host/hostOptions.ts'
import { streamTransports } from './streamTransports.ts'

/** What hears STUN requests of a listener of webRTCDirect: private there, made when it listens. */
interface StunServer {
  close(): Promise<void>
}

/** Native listeners that were closed; see {@link withoutNativeStop}. */
const closed = new Set<() => Promise<void>>()

/**
 * Listeners end with the process. node-datachannel 0.33.4 frees one when it is stopped, but libjuice goes on listening on its
 * port, and calls it for every STUN request of a peer that still sends some: the process aborts (`std::system_error: Invalid
 * argument`) or dies of SIGSEGV, one stop of four after a first sync. A listener that is closed without that refuses all.
 */
function withoutNativeStop(make: ReturnType<typeof webRTCDirect>): ReturnType<typeof webRTCDirect> {
  return (components) => {
    const transport = make(components)
    const createListener = transport.createListener.bind(transport)
    transport.createListener = (options) => {
      const listener = createListener(options)
      listener.addEventListener('listening', () => {
        const { stunServer } = listener as unknown as { stunServer: StunServer }
        const { close } = stunServer
        stunServer.close = () => {
          closed.add(close)
          return Promise.resolve()
        }
      })
      return listener
    }
    return transport
  }
}

/** Transports of a process. */
export const nodeTransports: HostTransports = (certificate) => [
  ...streamTransports(certificate),
  // The default list of ICE servers asks strangers for our address: WebRTC-direct needs nobody.
  withoutNativeStop(webRTCDirect({ certificate, rtcConfiguration: { iceServers: [] } })),
]
