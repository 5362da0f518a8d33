/**
 * A peer without any manners: a bare libp2p connection, no protocols but those that an attack gives it, no bounds. It costs little, so
 * that one process has many, and nothing of it keeps an attack from being sent.
 */
import { identify } from '@libp2p/identify'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { webSockets } from '@libp2p/websockets'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p, type Libp2p } from 'libp2p'
import { HostStream } from '../../src/p2p/host/hostStream.ts'

const MANY = 1_000_000
const CONNECT_MS = 10_000
const OPEN_MS = 1000

/** What a peer does with streams, by protocol. */
export type Speaks = Readonly<Record<string, (stream: HostStream) => Promise<void>>>

/** Who a peer is, and where it listens, where that matters. */
export interface Self {
  readonly key?: Ed25519PrivateKey
  readonly port?: number
  /** What it does with whoever comes to it by a WebSocket, which it then listens for at the port: tabs come by nothing else. */
  readonly onTab?: (peer: RawPeer) => void
}

/** One such peer, connected to one target. */
export class RawPeer {
  readonly #node: Libp2p
  readonly #target: string
  #isCut = false

  private constructor(node: Libp2p, target: string) {
    this.#node = node
    this.#target = target
  }

  /**
   * @param speaks - what it does with streams that the other side opens; it says that it has these protocols
   * @throws when it is refused
   */
  static async connect(target: string, speaks: Speaks = {}, self: Self = {}): Promise<RawPeer> {
    const { onTab } = self
    const listen = `/ip4/127.0.0.1/tcp/${self.port}${onTab === undefined ? '' : '/ws'}`
    const node = await createLibp2p({
      addresses: { listen: self.port === undefined ? [] : [listen] },
      ...(self.key === undefined ? {} : { privateKey: self.key }),
      transports: [tcp(), webSockets()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux({ maxInboundStreams: MANY, maxOutboundStreams: MANY })],
      connectionManager: { maxConnections: MANY, reconnectRetries: 0 },
      connectionMonitor: { enabled: false },
      services: { ...(Object.keys(speaks).length === 0 ? {} : { identify: identify() }) } as Record<string, never>,
    })
    for (const [protocol, run] of Object.entries(speaks)) {
      await node.handle(
        protocol,
        async (stream) => {
          const bytes = new HostStream(stream)
          await run(bytes).catch(() => bytes.abort(new Error('over')))
        },
        { maxInboundStreams: MANY },
      )
    }
    const peer = new RawPeer(node as unknown as Libp2p, target)
    node.addEventListener('connection:open', ({ detail: connection }) => {
      if (connection.direction !== 'inbound' || onTab === undefined) return
      onTab(new RawPeer(node as unknown as Libp2p, connection.remotePeer.toString()))
    })
    try {
      await node.dial(multiaddr(target), { signal: AbortSignal.timeout(CONNECT_MS) })
    } catch (error) {
      await node.stop()
      throw error
    }
    return peer
  }

  get id(): string {
    return this.#node.peerId.toString()
  }

  get isConnected(): boolean {
    const connections = this.#node.getConnections()
    return (
      !this.#isCut &&
      connections.some(({ status, remotePeer }) => status === 'open' && this.#target.endsWith(remotePeer.toString()))
    )
  }

  /** @throws when the other side has no such protocol, refuses the stream or is gone */
  async open(protocol: string): Promise<HostStream> {
    const connection = this.#node
      .getConnections()
      .find(({ remotePeer }) => this.#target.endsWith(remotePeer.toString()))
    if (connection === undefined) throw new Error(`not connected to ${this.#target}`)
    const options = { signal: AbortSignal.timeout(OPEN_MS), maxOutboundStreams: MANY }
    try {
      return new HostStream(await connection.newStream([protocol], options))
    } catch (error) {
      // What was cut by the other side may say for a long time that it is open.
      this.#isCut ||= error instanceof Error && error.name === 'ConnectionClosedError'
      throw error
    }
  }

  async stop(): Promise<void> {
    await this.#node.stop()
  }
}
