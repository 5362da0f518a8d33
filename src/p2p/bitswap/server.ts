/**
 * Answers wants out of a block store. What is not there is said to be missing, and sent when it comes: boxo says a want to the same peer
 * again after half a minute at the soonest.
 * @see ipfs/boxo bitswap/server/internal/decision engine.go; forest src/libp2p_bitswap/request_manager.rs
 */

import type { Clock, Timers } from '../../base/ports.ts'
import { letOthers } from '../../base/waiting.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Blockstore, hasBlock, tryGetBlock } from '../../ipld/blockstore.ts'
import type { PeerName } from '../peerLinks.ts'
import {
  ANSWER_BYTES,
  ANSWER_ENTRIES,
  BUSY_MS,
  MAX_PENDING_OF_ALL,
  MAX_PENDING_WANTS,
  MIN_PENDING_WANTS,
  SMALL_BLOCK_BYTES,
} from './limits.ts'
import type { BitswapMessage, Presence, SentBlock, Want } from './messages.ts'
import { UnmetWants } from './unmetWants.ts'

/** Bytes of an answer beside its blocks, for each of them. */
const OVERHEAD_BYTES = 60

/** What is served, and who hears of peers that take nothing or want too much. */
export interface WantServerDeps {
  readonly blocks: Blockstore
  readonly clock: Clock
  readonly timers: Timers
  /** Resolves when the peer's stream has taken the message. */
  readonly send: (peer: PeerName, message: BitswapMessage, sizeBytes: number) => Promise<void>
  /** Answers did not leave: the peer's stream, or a store that cannot be read. */
  readonly onFailed: (peer: PeerName, error: unknown) => void
  /** More wants than may wait. */
  readonly onFlood: (peer: PeerName) => void
}

interface Queue {
  /** By CID: a want that is said again counts once, a cancelled one not at all. */
  readonly wants: Map<string, Want>
  working: boolean
}

/** Wants that wait, by peer; one answer at a time is made for each. */
export class WantServer {
  readonly #deps: WantServerDeps
  readonly #queues = new Map<PeerName, Queue>()
  readonly #unmet: UnmetWants
  #busySince: number | undefined

  constructor(deps: WantServerDeps) {
    this.#deps = deps
    this.#unmet = new UnmetWants(deps.clock)
  }

  /** Takes a peer's wants. */
  receive(peer: PeerName, wants: readonly Want[]): void {
    if (!this.#enqueue(peer, wants)) this.#deps.onFlood(peer)
  }

  /** @returns false: further ones found no room */
  #enqueue(peer: PeerName, wants: readonly Want[]): boolean {
    if (wants.length === 0) return true
    const queue = this.#queues.get(peer) ?? { wants: new Map<string, Want>(), working: false }
    this.#queues.set(peer, queue)
    const others = this.pending - queue.wants.size
    let hasRoom = true
    for (const want of wants) {
      const { size } = queue.wants
      this.#unmet.delete(peer, want.cid)
      if (want.cancel) queue.wants.delete(want.cid.key)
      else if (size < MIN_PENDING_WANTS || (size < MAX_PENDING_WANTS && others + size < MAX_PENDING_OF_ALL)) {
        queue.wants.set(want.cid.key, want)
      } else {
        hasRoom = false
        break
      }
    }
    if (!queue.working) void this.#work(peer, queue)
    return hasRoom
  }

  /** Blocks have come into the store: whoever asked for one before gets it now. @param cids - asked for only where somebody waits */
  arrived(cids: () => readonly Cid[]): void {
    if (this.#unmet.size === 0) return
    for (const [peer, wants] of this.#unmet.take(cids())) {
      // That they are missing was said. Who finds no room is not to blame.
      this.#enqueue(
        peer,
        wants.map((want) => ({ ...want, sendDontHave: false })),
      )
    }
  }

  /** Something was executed, which leaves a state: whoever asked for a part of it before gets that now. */
  executed(): void {
    this.arrived(() => this.#unmet.cids().filter((cid) => hasBlock(this.#deps.blocks, cid)))
  }

  /** Forgets a peer that left. */
  forget(peer: PeerName): void {
    this.#unmet.forget(peer)
    this.#queues.get(peer)?.wants.clear()
    this.#queues.delete(peer)
  }

  /** Wants that wait, of all peers. */
  get pending(): number {
    let count = 0
    for (const queue of this.#queues.values()) count += queue.wants.size
    return count
  }

  async #work(peer: PeerName, queue: Queue): Promise<void> {
    queue.working = true
    try {
      while (queue.wants.size > 0) {
        const { message, sizeBytes, unmet } = this.#answer(queue)
        // Not of a peer that has left.
        if (this.#queues.get(peer) === queue) this.#unmet.add(peer, unmet)
        if (message.blocks.length + message.presences.length > 0) await this.#deps.send(peer, message, sizeBytes)
        // Not behind the last one: what is asked next must not wait for it.
        if (queue.wants.size > 0) await this.#breathe()
      }
    } catch (error) {
      // The peer does not take answers, or the store gives none: what was still wanted is void.
      queue.wants.clear()
      this.#deps.onFailed(peer, error)
    } finally {
      queue.working = false
      if (queue.wants.size === 0 && this.#queues.get(peer) === queue) this.#queues.delete(peer)
    }
  }

  async #breathe(): Promise<void> {
    const now = this.#deps.clock.monotonicMs()
    this.#busySince ??= now
    if (now - this.#busySince < BUSY_MS) return
    await letOthers(this.#deps)
    this.#busySince = undefined
  }

  /** Takes wants from the queue until the answer is full. */
  #answer(queue: Queue): { message: BitswapMessage; sizeBytes: number; unmet: readonly Want[] } {
    const blocks: SentBlock[] = []
    const presences: Presence[] = []
    const unmet: Want[] = []
    let sizeBytes = 0
    for (const [key, want] of queue.wants) {
      queue.wants.delete(key)
      const data = tryGetBlock(this.#deps.blocks, want.cid)
      if (data === undefined) unmet.push(want)
      const whole = data !== undefined && (want.type === 'block' || data.length <= SMALL_BLOCK_BYTES)
      if (whole) blocks.push({ cid: want.cid, data })
      else if (data !== undefined) presences.push({ cid: want.cid, has: true })
      else if (want.sendDontHave) presences.push({ cid: want.cid, has: false })
      sizeBytes += OVERHEAD_BYTES + (whole ? data.length : 0)
      if (sizeBytes >= ANSWER_BYTES || blocks.length + presences.length >= ANSWER_ENTRIES) break
    }
    return { message: { wants: [], blocks, presences }, sizeBytes, unmet }
  }
}
