/**
 * Bitswap: blocks for others out of this node's store, and blocks of others for this node.
 * @see ipfs/specs BITSWAP.md; ipfs/boxo bitswap; forest src/libp2p_bitswap
 */

import { errorMessage } from '../../base/errors.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import { sleep } from '../../base/waiting.ts'
import type { Cid } from '../../codec/cid.ts'
import type { Blockstore } from '../../ipld/blockstore.ts'
import type { BlockSource } from '../../ipld/withBlocks.ts'
import { P2pError } from '../errors.ts'
import { StreamReader } from '../framing/streamReader.ts'
import { PeerBudget } from '../peerBudget.ts'
import { type ByteStream, type PeerLinks, type PeerName, reportError } from '../peerLinks.ts'
import { ServiceGate } from '../serviceGate.ts'
import { BlockClient } from './client.ts'
import {
  MAX_MESSAGE_BYTES,
  MAX_READING,
  MAX_READING_OF_PEER,
  MAX_STREAMS,
  MESSAGE_MS,
  READING_PATIENCE_MS,
  UNASKED_BUDGET,
  UNASKED_PAUSE_MS,
} from './limits.ts'
import { BITSWAP_PROTOCOLS, type BitswapMessage, decodeMessage } from './messages.ts'
import { PeerSender, type PeerSenderDeps } from './peerSender.ts'
import { WantServer } from './server.ts'
import { Swarm } from './swarm.ts'

/** Peers, and the store that blocks are served from. */
export interface BitswapDeps {
  readonly links: PeerLinks
  /** What others may have. */
  readonly blocks: Blockstore
  /** Newest first; those of Filecoin's nodes unless told otherwise. */
  readonly protocols?: readonly string[]
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

/** Bitswap, running. */
export interface Bitswap {
  /** For {@link withBlocks}: blocks of connected peers. */
  readonly source: BlockSource
  /** Blocks under way, and wants of others that wait. */
  pending(): { readonly fetching: number; readonly serving: number }
  /** Blocks have come into the store: peers that asked for one before get it. @param cids - asked for only where somebody waits */
  arrived(cids: () => readonly Cid[]): void
  /** A tipset was executed: peers that asked for a part of its state before get it. */
  executed(): void
  stop(): void
}

/** Starts serving, and fetching. */
export function startBitswap(deps: BitswapDeps): Bitswap {
  const node = new BitswapNode(deps)
  return {
    source: node.client,
    pending: () => node.pending(),
    arrived: (cids) => node.arrived(cids),
    executed: () => node.executed(),
    stop: () => node.stop(),
  }
}

/** Between two warnings that nobody answers, milliseconds. */
const MUTE_WARNING_MS = 60_000
/** Messages that come at once; the others wait, unread, so that peers slow down instead of losing them. */
const READING = { running: MAX_READING, perPeer: MAX_STREAMS, waiting: Number.MAX_SAFE_INTEGER }

class BitswapNode {
  readonly client: BlockClient
  readonly #deps: BitswapDeps
  readonly #server: WantServer
  readonly #swarm: Swarm
  readonly #senders = new Map<PeerName, PeerSender>()
  readonly #senderDeps: PeerSenderDeps
  readonly #streams = new Map<PeerName, Set<ByteStream>>()
  readonly #reading = new ServiceGate(READING)
  readonly #readingOfPeer = new Map<PeerName, ServiceGate>()
  readonly #control = new AbortController()
  readonly #ends: (() => void)[]
  #warnAgainMs = Number.NEGATIVE_INFINITY

  constructor(deps: BitswapDeps) {
    this.#deps = deps
    const { links, clock, timers, log, blocks, protocols = BITSWAP_PROTOCOLS } = deps
    this.#senderDeps = { links, protocols, log, time: { clock, timers }, signal: this.#control.signal }
    this.#swarm = new Swarm(clock)
    const send = async (peer: PeerName, message: BitswapMessage, sizeBytes: number): Promise<void> => {
      await this.#sender(peer).send(message, sizeBytes)
    }
    const unasked = new PeerBudget(clock, UNASKED_BUDGET)
    const onMute = (peers: number): void => this.#warnMute(peers)
    this.client = new BlockClient({ links, protocols, timers, send, unasked, swarm: this.#swarm, onMute })
    const onFlood = (peer: PeerName): void => links.report(peer, { fault: 'FLOOD', reason: 'bitswap wants' })
    const onFailed = (peer: PeerName, error: unknown): void =>
      log.debug('bitswap wants not answered', { peer, error: errorMessage(error) })
    this.#server = new WantServer({ blocks, clock, timers, send, onFlood, onFailed })
    this.#ends = [
      ...protocols.map((protocol) => links.handle(protocol, (peer, stream) => this.#serve(peer, stream), MAX_STREAMS)),
      links.onDisconnected((peer) => this.#forget(peer)),
    ]
  }

  /** A node that needs state from others waits in vain among them: nothing else would say why. */
  #warnMute(peers: number): void {
    const now = this.#deps.clock.monotonicMs()
    if (now < this.#warnAgainMs) return
    this.#warnAgainMs = now + MUTE_WARNING_MS
    this.#deps.log.warn('nobody answers what is asked by bitswap', { peers })
  }

  pending(): { fetching: number; serving: number } {
    return { fetching: this.client.pending, serving: this.#server.pending }
  }

  arrived(cids: () => readonly Cid[]): void {
    this.#server.arrived(cids)
  }

  executed(): void {
    this.#server.executed()
  }

  stop(): void {
    for (const end of this.#ends) end()
    this.client.close()
    for (const peer of [...this.#senders.keys(), ...this.#streams.keys()]) this.#forget(peer)
    this.#control.abort(new P2pError('NOT_STARTED', 'Cannot exchange blocks: stopped'))
  }

  #sender(peer: PeerName): PeerSender {
    let sender = this.#senders.get(peer)
    if (sender === undefined) {
      // Nobody would forget the sender of a peer that is gone already.
      if (!this.#deps.links.peers().includes(peer)) throw new P2pError('NOT_CONNECTED', 'Cannot send: the peer is gone')
      sender = new PeerSender(this.#senderDeps, peer)
      this.#senders.set(peer, sender)
    }
    return sender
  }

  #forget(peer: PeerName): void {
    this.#senders.get(peer)?.close()
    this.#senders.delete(peer)
    this.#server.forget(peer)
    this.#swarm.forget(peer)
    this.#readingOfPeer.delete(peer)
    for (const stream of this.#streams.get(peer) ?? []) stream.abort(new P2pError('STREAM_RESET', 'bitswap ended'))
    this.#streams.delete(peer)
    this.client.forget(peer)
  }

  /** Reads messages until the peer ends the stream, which it may keep open for long. */
  async #serve(peer: PeerName, stream: ByteStream): Promise<void> {
    const { links, log } = this.#deps
    const streams = this.#streams.get(peer) ?? new Set<ByteStream>()
    if (streams.size >= MAX_STREAMS) {
      links.report(peer, { fault: 'FLOOD', reason: 'bitswap streams' })
      throw new P2pError('PEER_REFUSED', 'too many streams')
    }
    this.#streams.set(peer, streams.add(stream))
    try {
      const reader = new StreamReader(stream, Number.MAX_SAFE_INTEGER)
      for (let messages = 0; !(await reader.atEnd()); messages++) {
        if (messages === 1) this.#senders.get(peer)?.readsOn()
        await this.#readMessage(peer, stream, reader)
      }
      await stream.closeWrite()
    } catch (error) {
      log.debug('bitswap stream ended', { peer, error: errorMessage(error) })
      reportError(links, peer, 'bitswap', error)
      throw error
    } finally {
      streams.delete(stream)
      if (streams.size === 0 && this.#streams.get(peer) === streams) this.#streams.delete(peer)
    }
  }

  async #readMessage(peer: PeerName, stream: ByteStream, reader: StreamReader): Promise<void> {
    const leaves = [await this.#ofPeer(peer).enter(peer), await this.#turn(peer, stream)]
    const late = new P2pError('TIMEOUT', `Cannot read message: not here after ${MESSAGE_MS} ms`)
    const cancel = this.#deps.timers.setTimeout(() => stream.abort(late), MESSAGE_MS)
    let bytes: Uint8Array
    try {
      const length = await reader.varint()
      if (length > MAX_MESSAGE_BYTES) throw new P2pError('TOO_LARGE', `Cannot read message: ${length} bytes`)
      bytes = await reader.bytes(length)
    } finally {
      cancel()
      for (const leave of leaves) leave?.()
    }
    const message = decodeMessage(bytes)
    if (message.blocks.length + message.presences.length + message.bareBlocks.length > 0) {
      this.#senders.get(peer)?.answered()
    }
    const isFlood = this.client.receive(peer, message)
    this.#server.receive(peer, message.wants)
    // What it sends on waits unread: it slows down itself alone.
    if (isFlood) await sleep(this.#deps.timers, UNASKED_PAUSE_MS)
  }

  /** Of all peers' turns one; messages that come too slowly must not keep everybody else's away. */
  async #turn(peer: PeerName, stream: ByteStream): Promise<(() => void) | undefined> {
    const cancel = this.#deps.timers.setTimeout(() => this.#reading.makeRoom(peer), READING_PATIENCE_MS)
    try {
      return await this.#reading.enter(peer, () => stream.abort(new P2pError('PEER_REFUSED', 'others wait')))
    } finally {
      cancel()
    }
  }

  #ofPeer(peer: PeerName): ServiceGate {
    let gate = this.#readingOfPeer.get(peer)
    if (gate === undefined) {
      gate = new ServiceGate({ running: MAX_READING_OF_PEER, perPeer: MAX_STREAMS, waiting: MAX_STREAMS })
      this.#readingOfPeer.set(peer, gate)
    }
    return gate
  }
}
