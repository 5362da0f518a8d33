/**
 * Connections to other nodes as the protocols see them: streams, who is there, and what is done about misbehaviour. The
 * protocols know nothing of libp2p; the host gives them this.
 */

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

/** Why a peer is punished; `proven` misbehaviour (a false block for a CID, another genesis, garbage) bans it. */
export interface Misbehaviour {
  readonly reason: string
  readonly proven: boolean
}

/** Connections, by peer. */
export interface PeerLinks {
  /** Opens a stream to a connected peer. @param protocols - the first that it speaks is taken @throws P2pError */
  open(peer: PeerName, protocols: readonly string[], signal: AbortSignal): Promise<ByteStream>
  /** Serves a protocol; what `serve` throws resets the stream. @returns what ends it */
  handle(protocol: string, serve: (peer: PeerName, stream: ByteStream) => Promise<void>): () => void
  /** Connected peers. */
  peers(): readonly PeerName[]
  /** Whether a connected peer said (identify) that it speaks a protocol. */
  speaks(peer: PeerName, protocol: string): boolean
  /** Hears of each connected peer once its protocols are known. @returns what ends the subscription */
  onIdentified(listener: (peer: PeerName) => void): () => void
  onDisconnected(listener: (peer: PeerName) => void): () => void
  disconnect(peer: PeerName): Promise<void>
  /** Counts misbehaviour; a banned peer is disconnected and refused for a while. */
  report(peer: PeerName, what: Misbehaviour): void
  /** How much a peer is worth keeping when there are too many; Lotus' connection manager tags. */
  tag(peer: PeerName, name: string, weight: number): void
}
