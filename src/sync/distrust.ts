import { Lru } from '../base/lru.ts'
import type { Clock } from '../base/ports.ts'
import type { PeerName } from '../p2p/peerLinks.ts'
import type { Address } from '../types/address.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { TipsetKey } from '../types/tipset.ts'
import type { BadReason } from './badBlocks.ts'
import { DISTRUSTED_EPOCHS, DISTRUSTED_HEADS_MS, DISTRUSTED_PEERS } from './limits.ts'

/**
 * Checks that come after that of the block's own signature, and need nothing but the block and its messages: its miner made it so. Not
 * roots, which a fault of ours could get wrong.
 */
const BY_ITS_MINER: ReadonlySet<string> = new Set([
  'BLS_AGGREGATE_INVALID',
  'MESSAGE_KIND_WRONG',
  'MESSAGE_SYNTAX_WRONG',
  'GAS_LIMIT_EXCEEDED',
  'SENDER_INVALID',
  'NONCE_WRONG',
  'MESSAGE_SIGNATURE_INVALID',
])

/**
 * Who made a bad block, or said that one was its head: a block of 10,000 messages takes seconds to check, which both could
 * ask of us again and again. What others build on is checked all the same, so nothing of it is a matter of consensus.
 */
export class Distrust {
  readonly #clock: Clock
  /** Last peer that claimed a block as part of its head, by the block's CID. */
  readonly #claims = new Lru<string, PeerName>(DISTRUSTED_PEERS)
  readonly #peers = new Lru<PeerName, { readonly untilMs: number }>(DISTRUSTED_PEERS)
  /** Height of a miner's last bad block. */
  readonly #miners = new Lru<string, { readonly height: ChainEpoch }>(DISTRUSTED_PEERS)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A peer says that a tipset is its head. */
  claimed(peer: PeerName, key: TipsetKey): void {
    for (const cid of key) this.#claims.set(cid.key, peer)
  }

  /** A block was found bad. @param made - its miner and height, where its header is here. @returns the peer that had it as its head */
  bad(
    cid: TipsetKey[number],
    { check }: BadReason,
    made: { miner: Address; height: ChainEpoch } | undefined,
  ): PeerName | undefined {
    if (check === undefined || !BY_ITS_MINER.has(check)) return undefined
    if (made !== undefined) this.#miners.set(made.miner.key, { height: made.height })
    const peer = this.#claims.get(cid.key)
    if (peer !== undefined) this.#peers.set(peer, { untilMs: this.#clock.monotonicMs() + DISTRUSTED_HEADS_MS })
    return peer
  }

  /** Whether the heads of a peer are not looked at now. */
  ofPeer(peer: PeerName): boolean {
    return (this.#peers.get(peer)?.untilMs ?? 0) > this.#clock.monotonicMs()
  }

  /** Whether a block of this miner at this height is not looked at by itself. */
  ofMiner(miner: Address, height: ChainEpoch): boolean {
    const last = this.#miners.get(miner.key)
    return last !== undefined && Math.abs(height - last.height) <= DISTRUSTED_EPOCHS
  }
}
