/**
 * The validator of the blocks topic. What it accepts is passed on to the network before anyone has looked at its parents:
 * it says that a miner with power signed this block, nothing about its being valid.
 *
 *   decodes, at most 10000 messages, signature present    reject
 *   height in range                                       ignore
 *   message lists make the root in the header             reject
 *   not seen before                                       ignore
 *   not so far above our head that we know no power       ignore, and its parents are heard of as a head
 *   miner known / with power                              ignore / reject while our head is young, else ignore
 *   claims to have won, signed by the miner's worker      reject
 *
 * @see lotus chain/sub/incoming.go BlockValidator; chain/consensus/iface.go ValidateBlockPubsub;
 *   chain/consensus/filcns/filecoin.go ValidateBlockHeader
 */

import { errorMessage } from '../../base/errors.ts'
import { Lru } from '../../base/lru.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import { withTimeout } from '../../base/waiting.ts'
import type { ChainView } from '../../chain/chainView.ts'
import type { Cid } from '../../codec/cid.ts'
import { checkBlockSignature } from '../../consensus/checks/blockSignature.ts'
import { isEpochInRange } from '../../consensus/epochRange.ts'
import { ValidationError } from '../../consensus/validationError.ts'
import { verify } from '../../crypto/bls.ts'
import type { BlockEdge } from '../../ipld/blockFetcher.ts'
import type { Address } from '../../types/address.ts'
import { type BlockHeader, headerCid } from '../../types/blockHeader.ts'
import { firstBlock } from '../../types/tipset.ts'
import { P2pError } from '../errors.ts'
import type { PeerName } from '../peerLinks.ts'
import type { GossipMessage } from '../pubSub.ts'
import { type BlockMiner, blockMiner } from './blockMiner.ts'
import type { BlockMsg } from './blockMsg.ts'
import { SEEN_BLOCKS, VERDICT_MS } from './limits.ts'
import { messagesRootOf, type Refusal, readBlockMsg } from './readBlockMsg.ts'
import { NEAR_SYNCED_MS } from './rules.ts'

const MS = 1000

/** The chain that headers are judged by, and the edge that fetches what of it is missing. */
export interface BlockValidatorDeps {
  readonly view: ChainView
  /** Runs a read of state, fetching what it misses. */
  readonly readState: BlockEdge
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /**
   * Hears of a block that our chain is too far behind to judge: its parents are a head that others hold. A peer says its head once,
   * when it connects, so nothing else would tell a node that has fallen behind while it was connected. (Lotus waits for a new peer.)
   */
  readonly onBeyond?: (from: PeerName, header: BlockHeader) => void
}

/** What became of a block: it, when it is accepted. */
export type BlockVerdict = { readonly verdict: 'accept'; readonly block: BlockMsg } | Refusal

/** Judges blocks as they come off the topic, each once. */
export class BlockValidator {
  readonly #deps: BlockValidatorDeps
  readonly #seen = new Lru<string, true>(SEEN_BLOCKS)

  constructor(deps: BlockValidatorDeps) {
    this.#deps = deps
  }

  /** Remembers a block: when it comes (back) from the network it is ignored. */
  see(cid: Cid): void {
    this.#seen.set(cid.key, true)
  }

  /** Judges a payload of the topic. Never throws: what goes wrong on our side is ignored. */
  async validate({ data, from }: Pick<GossipMessage, 'data' | 'from'>): Promise<BlockVerdict> {
    try {
      // The block outlives the network buffer that it came in.
      const block = readBlockMsg(data.slice())
      if ('verdict' in block) return block
      return this.#checkHere(block) ?? (await this.#checkMiner(block.header, from)) ?? this.#accept(block)
    } catch (error) {
      this.#deps.log.debug('gossip: block not judged', { from, error: errorMessage(error) })
      return refusal('ignore', 'not_judged')
    }
  }

  /** What needs no state. */
  #checkHere(block: BlockMsg): Refusal | undefined {
    const { header } = block
    if (!isEpochInRange(this.#deps.view, header.height, this.#deps.clock.nowMs())) {
      return refusal('ignore', 'height_out_of_range')
    }
    if (!messagesRootOf(block).equals(header.messages)) return refusal('reject', 'wrong_messages_root')
    // Lotus asks this last; here nobody makes us check a signature twice.
    return this.#isSeen(header) ? refusal('ignore', 'seen') : undefined
  }

  #isSeen(header: BlockHeader): boolean {
    return this.#seen.get(headerCid(header).key) !== undefined
  }

  async #checkMiner(header: BlockHeader, from: PeerName): Promise<Refusal | undefined> {
    const { view, onBeyond } = this.#deps
    const miner = await this.#findMiner(header, view)
    if (miner.kind === 'beyond') onBeyond?.(from, header)
    const refused = this.#judgeMiner(header, miner)
    if (refused?.verdict !== 'reject') return refused
    // Before its sender is blamed: a disk may have given back other bytes than were written.
    return this.#judgeMiner(header, await this.#findMiner(header, view.checked))
  }

  #judgeMiner(header: BlockHeader, miner: BlockMiner): Refusal | undefined {
    switch (miner.kind) {
      case 'beyond':
        return refusal('ignore', 'beyond_our_chain')
      case 'unknown':
        return refusal('ignore', 'unknown_miner')
      case 'powerless':
        return refusal(this.#isNearSynced() ? 'reject' : 'ignore', 'miner_without_power')
      case 'worker':
        break
    }
    if ((header.electionProof?.winCount ?? 0) < 1) return refusal('reject', 'not_winning')
    return isSignedBy(header, miner.key) ? undefined : refusal('reject', 'wrong_signature')
  }

  #findMiner(header: BlockHeader, view: ChainView): Promise<BlockMiner> {
    const { readState, timers } = this.#deps
    const late = (): P2pError => new P2pError('TIMEOUT', `Cannot finish within ${VERDICT_MS} ms`)
    return withTimeout(timers, VERDICT_MS, late, (signal) => readState(() => blockMiner(view, header), signal))
  }

  #isNearSynced(): boolean {
    const { clock, view } = this.#deps
    return clock.nowMs() - firstBlock(view.store.head()).timestamp * MS < NEAR_SYNCED_MS
  }

  #accept(block: BlockMsg): BlockVerdict {
    // The same block may have been accepted while this one waited for state.
    if (this.#isSeen(block.header)) return refusal('ignore', 'seen')
    this.see(headerCid(block.header))
    return { verdict: 'accept', block }
  }
}

function refusal(verdict: Refusal['verdict'], reason: string): Refusal {
  return { verdict, reason }
}

function isSignedBy(header: BlockHeader, worker: Address): boolean {
  try {
    checkBlockSignature({ header, worker, verifyBls: verify })
    return true
  } catch (error) {
    if (error instanceof ValidationError) return false
    throw error
  }
}
