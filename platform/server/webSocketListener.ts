/**
 * WebSockets of peers, with bounds on sockets that have not become one: the listener of libp2p waits for the first byte of each without an
 * end, for any number of them, and does not close while one is open. Node and Deno.
 */
import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import { webSockets } from '@libp2p/websockets'
import { HOST_LIMITS } from '../../src/p2p/host/hostLimits.ts'

const { pendingConnections, handshakeMs } = HOST_LIMITS

/** What listens; its types keep it private. */
interface Servers {
  readonly server: Server
  /** Made when it listens. */
  readonly http?: HttpServer
}

/** Sockets that are no WebSockets yet, the oldest first. */
class BareSockets {
  readonly #timers = new Map<Socket, NodeJS.Timeout>()

  add(socket: Socket): void {
    const end = setTimeout(() => socket.destroy(), handshakeMs)
    end.unref()
    this.#timers.set(socket, end)
    socket.on('close', () => this.delete(socket))
    if (this.#timers.size > pendingConnections) this.#oldestOfMost()?.destroy()
  }

  /** It became one, or is gone. */
  delete(socket: Socket): void {
    clearTimeout(this.#timers.get(socket))
    this.#timers.delete(socket)
  }

  /** Ends all of them. */
  end(): void {
    for (const socket of [...this.#timers.keys()]) socket.destroy()
  }

  /** Of the address that has most of them: who floods takes nobody's place but his own. */
  #oldestOfMost(): Socket | undefined {
    const of = new Map<string | undefined, Socket[]>()
    for (const socket of this.#timers.keys()) {
      const sockets = of.get(socket.remoteAddress) ?? []
      sockets.push(socket)
      of.set(socket.remoteAddress, sockets)
    }
    return [...of.values()].reduce((most, sockets) => (sockets.length > most.length ? sockets : most), [])[0]
  }
}

/** The transport, for those who listen and those who only dial. */
export function boundWebSockets(): ReturnType<typeof webSockets> {
  const make = webSockets()
  return (components) => {
    const transport = make(components)
    const createListener = transport.createListener.bind(transport)
    transport.createListener = (options) => {
      const listener = createListener(options)
      const servers = listener as unknown as Servers
      const bare = new BareSockets()
      servers.server.on('connection', (socket) => bare.add(socket))
      listener.addEventListener('listening', () => {
        servers.http?.prependListener('upgrade', (_, socket) => bare.delete(socket as Socket))
      })
      const close = listener.close.bind(listener)
      listener.close = () => {
        bare.end()
        return close()
      }
      return listener
    }
    return transport
  }
}
