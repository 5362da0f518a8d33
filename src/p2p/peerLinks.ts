/**
 * Connections to other nodes as the protocols see them: streams, who is there, and what is done about misbehaviour. The
 * protocols know nothing of libp2p; the host gives them this.
 */
import { errorMessage } from '../base/errors.ts'
import { type Fault, faultOf } from './faults.ts'

/** A remote node: its peer ID as text, `12D3Koo…`. */
export type PeerName = string

/** One stream of one protocol. */
export interface ByteStream {
  /** The protocol that was agreed on. */
  readonly protocol: string
  /** What came next, at least one byte; undefined when the other side has ended. Rejects when the stream was reset. */
  read(): Promise<Uint8Array | undefined>
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends this side; reading goes on. */
  closeWrite(): Promise<void>
  /** Resets both sides. */
  abort(reason: Error): void
}

/** What a peer did, see {@link Fault}, and the circumstances, for the log. */
export interface Misbehaviour {
  readonly fault: Fault
  readonly reason: string
}

/** Connections, by peer. */
export interface PeerLinks {
  /** Opens a stream to a connected peer. @param protocols - the first that it speaks is taken @throws P2pError */
  open(peer: PeerName, protocols: readonly string[], signal: AbortSignal): Promise<ByteStream>
  /**
   * Serves a protocol; what `serve` throws resets the stream.
   * @param mostStreams - that one connection may have open. Default: as of any protocol
   * @returns what ends it
   */
  handle(
    protocol: string,
    serve: (peer: PeerName, stream: ByteStream) => Promise<void>,
    mostStreams?: number,
  ): () => void
  /** A peer was asked for what it answers on streams of its own: so many more are no flood. */
  expect(peer: PeerName, streams: number): void
  /** Connected peers. */
  peers(): readonly PeerName[]
  /** Whether a connected peer said (identify) that it speaks a protocol; undefined while it has said nothing. */
  speaks(peer: PeerName, protocol: string): boolean | undefined
  /** Hears of each connected peer once its protocols are known. @returns what ends the subscription */
  onIdentified(listener: (peer: PeerName) => void): () => void
  onDisconnected(listener: (peer: PeerName) => void): () => void
  disconnect(peer: PeerName): Promise<void>
  /** Counts misbehaviour; a banned peer is disconnected and refused for a while. */
  report(peer: PeerName, what: Misbehaviour): void
  /** How far down a peer belongs wherever several are to choose from: what was reported of it, fading. 0: nothing. */
  demerits(peer: PeerName): number
  /** How much a peer is worth keeping when there are too many; Lotus' connection manager tags. */
  tag(peer: PeerName, name: string, weight: number): void
}

/**
 * Reports what an error says of a peer, if it says anything.
 * @param doing - what went on, in front of the error's text
 */
export function reportError(links: Pick<PeerLinks, 'report'>, peer: PeerName, doing: string, error: unknown): void {
  const fault = faultOf(error)
  if (fault !== undefined) links.report(peer, { fault, reason: `${doing}: ${errorMessage(error)}` })
}

/** Peers without demerits first, in the order given; stable. */
export function byDemerits(links: Pick<PeerLinks, 'demerits'>, peers: readonly PeerName[]): PeerName[] {
  return peers
    .map((peer) => ({ peer, demerits: Math.floor(links.demerits(peer)) }))
    .sort((a, b) => a.demerits - b.demerits)
    .map(({ peer }) => peer)
}
