/**
 * Tipsets that peers offer: heads from hello, blocks from gossip. Looked at, kept, and handed on.
 * @see lotus chain/sync.go InformNewHead, InformNewBlock
 */
import { errorMessage, unlessThrown } from '../base/errors.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import type { ChainView } from '../chain/chainView.ts'
import { CodecError } from '../codec/errors.ts'
import { isEpochInRange } from '../consensus/epochRange.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { ChainSource, FetchedTipset } from '../p2p/chainSource.ts'
import type { Misbehaviour, PeerName } from '../p2p/peerLinks.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { firstBlock, repeatedCid, type Tipset, type TipsetKey, tipsetKeyText } from '../types/tipset.ts'
import { type BadBlocks, badReasonText } from './badBlocks.ts'
import { Distrust } from './distrust.ts'
import { hasMessages, keepMessages } from './fetchMessages.ts'
import { MAX_HEAD_FETCHES, MAX_TARGET_BLOCKS, MAX_WAITING_HEADS, SYNC_AGAIN_MS } from './limits.ts'
import { mayWin } from './worth.ts'

/** What a peer says in hello. */
export interface HeadClaim {
  readonly key: TipsetKey
  readonly height: ChainEpoch
  /** Of the head itself, not of its parents. */
  readonly weight: bigint
}

/** What a peer says that a tipset is: its own head, which it has found valid, or blocks that it only passes on. */
export type OfferedAs = 'head' | 'blocks'

interface Claim extends HeadClaim {
  readonly as: OfferedAs
  /** How often it could not be fetched. */
  readonly missed: number
}

/** A head that is asked for again later. */
interface Postponed {
  readonly claim: Claim
  readonly cancel: () => void
}

/** What offers are judged by, and who takes those that are worth it. */
export interface IntakeDeps {
  readonly view: ChainView
  readonly source: ChainSource
  readonly bad: BadBlocks
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  readonly report: (peer: PeerName, what: Misbehaviour) => void
  /** Takes what is worth synchronising to. */
  readonly accept: (peer: PeerName, tipset: Tipset) => void
}

/** Takes what peers offer; what cannot become the head, or comes from who made bad blocks, goes no further. */
export class Intake {
  readonly #deps: IntakeDeps
  readonly #listeners = new Set<(header: BlockHeader) => void>()
  /** The newest head of each peer whose turn has not come. */
  readonly #waiting = new Map<PeerName, Claim>()
  /** The last head of each peer that could not be fetched. */
  readonly #postponed = new Map<PeerName, Postponed>()
  /** Heights by the text of the key. */
  readonly #fetching = new Map<string, ChainEpoch>()
  readonly #stopping = new AbortController()
  readonly #distrust: Distrust

  constructor(deps: IntakeDeps) {
    this.#deps = deps
    this.#distrust = new Distrust(deps.clock)
    const { store } = deps.view
    deps.bad.listen((cid, reason) => {
      const peer = this.#distrust.bad(
        cid,
        reason,
        unlessThrown(() => store.header(cid), BlockMissing),
      )
      if (peer !== undefined) deps.log.warn('a peer had a bad block as its head', { peer, cid: cid.toString() })
    })
  }

  stop(): void {
    this.#stopping.abort()
    this.#waiting.clear()
    for (const { cancel } of this.#postponed.values()) cancel()
    this.#postponed.clear()
  }

  /** The highest of the heads that peers named and that are not here yet. */
  get awaited(): ChainEpoch | undefined {
    const claims = [...this.#waiting.values(), ...[...this.#postponed.values()].map(({ claim }) => claim)]
    const heights = [...this.#fetching.values(), ...claims.map(({ height }) => height)]
    return heights.length === 0 ? undefined : Math.max(...heights)
  }

  /** Hears of blocks as they come, whatever becomes of them. @returns what ends it */
  onBlock(listener: (header: BlockHeader) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A head by name: fetched from whoever named it, unless it is here. */
  offerHead(peer: PeerName, head: HeadClaim, as: OfferedAs = 'head'): void {
    if (as === 'head') this.#forgetPostponed(peer)
    this.#claimed(peer, { ...head, as, missed: 0 })
  }

  #claimed(peer: PeerName, claim: Claim): void {
    const { view } = this.#deps
    const { as } = claim
    if (this.#stopping.signal.aborted || claim.key.length === 0 || claim.height === 0) return
    // No tipset has such a key, though a block may name its parents so; whoever is asked for it gives something in good faith.
    if (repeatedCid(claim.key) !== undefined) return
    if (!this.#isInRange(claim.height) || this.#deps.bad.find(claim.key) !== undefined) return
    if (as === 'head' && this.#distrust.ofPeer(peer)) return
    // Its parents are lighter still.
    if (claim.weight < firstBlock(view.store.head()).parentWeight) return
    const here = this.#localTipset(claim.key)
    if (here !== undefined) {
      if (as === 'head') this.#distrust.claimed(peer, here.key)
      this.#consider(peer, here)
      return
    }
    this.#waiting.delete(peer)
    this.#waiting.set(peer, claim)
    if (this.#waiting.size > MAX_WAITING_HEADS) this.#waiting.delete(this.#waiting.keys().next().value as PeerName)
    this.#fetchNext()
  }

  /**
   * A tipset with its messages.
   * @returns whether it was kept and handed on
   */
  offerTipset(peer: PeerName, { tipset, messages }: FetchedTipset, as: OfferedAs): boolean {
    const { view, bad, log, report } = this.#deps
    if (this.#stopping.signal.aborted || tipset.height === 0 || !this.#isInRange(tipset.height)) return false
    const known = bad.find(tipset.key)
    if (known !== undefined) {
      log.debug('offered a block that is known to be bad', { reason: badReasonText(known.reason), peer })
      return false
    }
    if (as === 'head' ? this.#distrust.ofPeer(peer) : this.#isDistrusted(tipset)) {
      log.debug('offered what is of no trust', { height: tipset.height, peer })
      return false
    }
    const misshapen = this.#shapeError(tipset)
    if (misshapen !== undefined) {
      log.warn('invalid block received', { height: tipset.height, wrong: misshapen, peer })
      // Blocks are passed on before anybody has checked them; but a head is what its owner has found valid.
      if (as === 'head') report(peer, { fault: 'FALSE_HEAD', reason: misshapen })
      return false
    }
    const kept = new Set<string>()
    for (const [i, block] of tipset.blocks.entries()) {
      const own = messages?.[i]
      // Of blocks that share their messages those of the first are enough.
      if (kept.has(block.messages.key) || (own === undefined && hasMessages(view, block))) continue
      const wrong = own === undefined ? 'no messages' : keepMessages(view.store.blocks, block, own)
      if (wrong === undefined) {
        kept.add(block.messages.key)
        continue
      }
      log.warn('invalid block received', { height: tipset.height, wrong, peer })
      if (as === 'head') report(peer, { fault: 'FALSE_HEAD', reason: wrong })
      return false
    }
    if (as === 'head') this.#distrust.claimed(peer, tipset.key)
    for (const block of tipset.blocks) view.store.putHeader(block)
    return this.#consider(peer, tipset)
  }

  /** The signatures of blocks that come by gossip were checked: who is named as the miner is it. */
  #isDistrusted({ blocks, height }: Tipset): boolean {
    return blocks.every(({ miner }) => this.#distrust.ofMiner(miner, height))
  }

  #isInRange(epoch: ChainEpoch): boolean {
    return isEpochInRange(this.#deps.view, epoch, this.#deps.clock.nowMs())
  }

  /** What can be seen before anything is kept: a block that is made up costs its maker nothing. */
  #shapeError({ blocks, height }: Tipset): string | undefined {
    const { store, network } = this.#deps.view
    if (blocks.length > MAX_TARGET_BLOCKS) return `${blocks.length} blocks in a tipset`
    const timestamp = firstBlock(store.genesis()).timestamp + height * network.blockDelaySecs
    return blocks.every((block) => block.timestamp === timestamp) ? undefined : 'timestamp does not match height'
  }

  #consider(peer: PeerName, tipset: Tipset): boolean {
    for (const block of tipset.blocks) for (const listener of this.#listeners) listener(block)
    if (!mayWin(this.#deps.view, tipset)) return false
    this.#deps.accept(peer, tipset)
    return true
  }

  /** The tipset with all that it takes to check it, if that is here. */
  #localTipset(key: TipsetKey): Tipset | undefined {
    const { view } = this.#deps
    try {
      const tipset = view.store.tipset(key)
      return tipset.blocks.every((block) => hasMessages(view, block)) ? tipset : undefined
    } catch (error) {
      if (error instanceof BlockMissing) return undefined
      throw error
    }
  }

  #fetchNext(): void {
    while (this.#fetching.size < MAX_HEAD_FETCHES) {
      const next = [...this.#waiting].find(([, claim]) => !this.#fetching.has(tipsetKeyText(claim.key)))
      if (next === undefined) return
      const [peer, claim] = next
      this.#waiting.delete(peer)
      void this.#fetch(peer, claim)
    }
  }

  /**
   * A peer tells its head once, when it connects: where nothing moves that is all which is ever heard of a chain, and a stream that a
   * busy machine gave up is no reason to stay behind.
   */
  #tryLater(peer: PeerName, claim: Claim): void {
    const ms = SYNC_AGAIN_MS[claim.missed]
    if (ms === undefined || claim.as !== 'head' || this.#waiting.has(peer)) return
    const cancel = this.#deps.timers.setTimeout(() => {
      this.#postponed.delete(peer)
      const again = { ...claim, missed: claim.missed + 1 }
      try {
        this.#claimed(peer, again)
      } catch (error) {
        // Blocks that came meanwhile and make no tipset: nobody can have that head, and what is thrown by a timer ends the process.
        if (error instanceof CodecError) return
        // A disk that gives errors for a while.
        this.#deps.log.debug('the head of a peer could not be looked at', { peer, message: errorMessage(error) })
        this.#tryLater(peer, again)
      }
    }, ms)
    this.#forgetPostponed(peer)
    this.#postponed.set(peer, { claim, cancel })
    if (this.#postponed.size > MAX_WAITING_HEADS) this.#forgetPostponed(this.#postponed.keys().next().value as PeerName)
  }

  #forgetPostponed(peer: PeerName): void {
    this.#postponed.get(peer)?.cancel()
    this.#postponed.delete(peer)
  }

  async #fetch(peer: PeerName, claim: Claim): Promise<void> {
    const { key, height, as } = claim
    const name = tipsetKeyText(key)
    const { source, log } = this.#deps
    const { signal } = this.#stopping
    this.#fetching.set(name, height)
    try {
      const { tipsets } = await source.fetch({ head: key, length: 1, messages: true }, { prefer: peer, signal })
      const [fetched] = tipsets
      // The peer may list the blocks in another order than the tipset's.
      const isAsked = fetched?.tipset.key.every((cid) => key.some((asked) => asked.equals(cid))) === true
      if (isAsked) this.offerTipset(peer, fetched as FetchedTipset, as)
      else this.#tryLater(peer, claim)
    } catch (error) {
      if (!signal.aborted) {
        log.debug('the head of a peer could not be fetched', { peer, message: errorMessage(error) })
        this.#tryLater(peer, claim)
      }
    } finally {
      this.#fetching.delete(name)
      this.#fetchNext()
    }
  }
}
