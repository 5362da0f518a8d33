/**
 * Keeps this node's chain the heaviest valid one that its peers know.
 *
 *   offers -> intake -> scheduler -> runs (headers, messages, checks) -> fork choice -> head
 *
 * @see lotus chain/sync.go Syncer
 */
import { errorMessage } from '../base/errors.ts'
import { Pace } from '../base/pace.ts'
import type { Clock, KeyValueStore, Logger, Timers } from '../base/ports.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { VmHost } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import type { BlockValidation } from '../consensus/validateBlock.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import { hasBlock } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { ChainSource, FetchedTipset } from '../p2p/chainSource.ts'
import type { FullBlock } from '../p2p/gossip/blockMsg.ts'
import type { Misbehaviour, PeerName } from '../p2p/peerLinks.ts'
import { type BlockHeader, headerCid } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { createTipset, equalTipsetKeys, firstBlock, type Tipset, type TipsetKey } from '../types/tipset.ts'
import { type BadBlockListener, BadBlocks, badReasonText } from './badBlocks.ts'
import { SyncError } from './errors.ts'
import { keepMessages } from './fetchMessages.ts'
import { ForkChoice } from './forkChoice.ts'
import { type HeadClaim, Intake } from './intake.ts'
import { MAX_HEADS, PRUNE_STEP, STRETCH_MS } from './limits.ts'
import { SyncScheduler } from './scheduler.ts'
import { SlashFilter } from './slashFilter.ts'
import type { FetchesAhead } from './stateAhead.ts'
import { runSync, type SyncRunDeps } from './syncRun.ts'
import { SYNC_STAGE, SyncProgress, type SyncState } from './syncState.ts'
import { TipsetTracker } from './tipsetTracker.ts'
import { TipsetValidator } from './tipsetValidator.ts'
import { ValidatedBlocks } from './validatedBlocks.ts'
import { mayWin } from './worth.ts'

/** What a syncer is made of. */
export interface SyncerDeps {
  readonly validation: BlockValidation
  /** Executes tipsets; undefined: this node only follows headers. */
  readonly vm: VmHost | undefined
  /** Marks of validated blocks. */
  readonly meta: KeyValueStore
  readonly source: ChainSource
  /** Where missing blocks are fetched; a plain call where all of the state is at hand. */
  readonly edge: BlockEdge
  /** How state is fetched before it is needed; undefined: it is not. */
  readonly ahead?: FetchesAhead
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  readonly report: (peer: PeerName, what: Misbehaviour) => void
  /** Peers whose heads are heard before the first sync begins, up to `MAX_HEADS`. Default: the network's. */
  readonly threshold?: number | undefined
  /**
   * Whether the node makes the chain's blocks: until it is told of a heavier head it is at its target, as a Lotus that mines, whose syncer
   * completes each block of its own (lotus node/impl/full/sync.go SyncSubmitBlock). Default: no.
   */
  readonly makesBlocks?: boolean
}

const MANUALLY = 'manually marked bad'

/**
 * The assembly of intake, scheduler, runs and fork choice. Started by {@link Syncer.start}; offers before that are lost.
 */
export class Syncer {
  readonly #deps: SyncerDeps
  readonly #view: ChainView
  readonly #bad = new BadBlocks()
  readonly #validated: ValidatedBlocks
  readonly #slashFilter: SlashFilter
  readonly #tracker = new TipsetTracker()
  readonly #forkChoice: ForkChoice
  readonly #validator: TipsetValidator
  readonly #intake: Intake
  readonly #scheduler: SyncScheduler
  readonly #run: SyncRunDeps
  readonly #stopping = new AbortController()
  #unsubscribe: () => void = () => undefined
  #headMoves = 0

  constructor(deps: SyncerDeps) {
    this.#deps = deps
    const { validation, vm, meta, source, edge, ahead, clock, timers, log, report } = deps
    const { view } = validation
    this.#view = view
    this.#validated = new ValidatedBlocks(meta, vm === undefined ? 'headers' : 'execute')
    this.#slashFilter = new SlashFilter(meta)
    this.#forkChoice = new ForkChoice(view, this.#tracker, log)
    const shared = { view, source, edge, bad: this.#bad, validated: this.#validated, tracker: this.#tracker, report }
    this.#validator = new TipsetValidator({ ...shared, validation, vm, ahead, clock, timers })
    this.#run = {
      ...shared,
      forkChoice: this.#forkChoice,
      validator: this.#validator,
      isValid: (tipset) => this.#isValid(tipset),
    }
    this.#scheduler = new SyncScheduler({
      clock,
      timers,
      log,
      threshold: Math.min(deps.threshold ?? view.network.bootstrapPeerThreshold, MAX_HEADS),
      mayWin: (tipset) => mayWin(view, tipset),
      run: ({ target, peer, progress, signal }) =>
        runSync(this.#run, { target, prefer: peer, progress, signal, ignoreCheckpoint: false }),
    })
    this.#intake = new Intake({
      ...shared,
      clock,
      timers,
      log,
      accept: (peer, tipset) => this.#scheduler.offer(peer, tipset),
    })
  }

  /** Begins to hear of the head's moves; call once, before the first offer. */
  start(): void {
    const { store } = this.#view
    this.#tracker.addAll(store.head())
    // Blocks that another part of the node made the head (the local producer) can be completed by others' siblings.
    this.#unsubscribe = store.onHeadChange((_reverted, applied) => {
      for (const tipset of applied) this.#tracker.addAll(tipset)
      this.#headMoves += applied.length
      if (this.#headMoves >= PRUNE_STEP) this.#prune()
    })
  }

  /** Ends all work; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#intake.stop()
    this.#stopping.abort()
    await this.#scheduler.stop()
  }

  /** What a peer says that its head is (hello). */
  offerHead(peer: PeerName, claim: HeadClaim): void {
    this.#intake.offerHead(peer, claim)
  }

  /**
   * A block that our chain is too far behind to judge: its parents are worth a look, while nothing else is under way. Whoever passed
   * it on is not answerable for them.
   */
  offerParents(peer: PeerName, { parents, height, parentWeight }: BlockHeader): void {
    if (this.isWorking) return
    this.#intake.offerHead(peer, { key: parents, height: height - 1, weight: parentWeight }, 'blocks')
  }

  /** A tipset with its messages: fetched after hello. @returns whether it is worth anything */
  offerTipset(peer: PeerName, fetched: FetchedTipset): boolean {
    return this.#intake.offerTipset(peer, fetched, 'head')
  }

  /** A block that came by gossip, with its messages. @returns whether it is worth anything */
  offerBlock(peer: PeerName, { header, messages }: FullBlock): boolean {
    return this.#intake.offerTipset(peer, { tipset: createTipset([header]), messages: [messages] }, 'blocks')
  }

  /** Hears of each block that is found bad; of what lies on top of one, too. */
  onBadBlock(listener: BadBlockListener): void {
    this.#bad.listen(listener)
  }

  /** Hears of blocks as they come from peers, whatever becomes of them. @returns what ends it */
  onIncomingBlock(listener: (header: BlockHeader) => void): () => void {
    return this.#intake.onBlock(listener)
  }

  /**
   * Takes blocks that this node made itself, and whose headers and messages it has stored: no checks. The head moves to the
   * heaviest tipset that they are part of.
   */
  adopt(tipset: Tipset): void {
    this.#validated.addNow(tipset.height, tipset.key)
    this.#tracker.addAll(tipset)
    try {
      this.#forkChoice.refresh(tipset.height)
    } catch (error) {
      // The head could not be written. Whoever made these blocks makes others in their place: both would be equivocation.
      for (const block of tipset.blocks) this.#tracker.remove(block)
      throw error
    }
  }

  /**
   * Makes a tipset of the chain the head, though it may be lighter; no checkpoint holds it any more. What the chain has from its height on
   * is no longer known to be valid.
   * @throws BlockMissing
   * @see lotus node/impl/full/chain.go ChainSetHead; chain/store/store.go SetHead
   */
  setHead(tipset: Tipset): void {
    const { store } = this.#view
    const left: Tipset[] = []
    // Genesis has no parents.
    const lowest = Math.max(tipset.height, 1)
    for (let at = store.head(); at.height >= lowest; at = store.parent(at)) left.push(at)
    this.#validated.removeAll(left)
    for (const { blocks } of left) for (const block of blocks) this.#tracker.remove(block)
    store.removeCheckpoint()
    store.setHead(tipset)
    this.#tracker.addAll(tipset)
  }

  /**
   * Takes note of a block that a producer made elsewhere, before anybody else hears of it.
   * @throws SyncError `CONSENSUS_FAULT`: with an earlier block of the same producer it would be one; BlockMissing
   * @see lotus node/impl/full/sync.go SyncSubmitBlock
   */
  noteMined(header: BlockHeader): void {
    const [parent] = header.parents
    const parentEpoch = parent === undefined ? 0 : this.#view.store.header(parent).height
    const witness = this.#slashFilter.mined(header, parentEpoch)
    if (witness === undefined) return
    const text = `<!!> SLASH FILTER DETECTED FAULT due to witness ${witness}`
    this.#deps.log.error(text, { miner: header.miner.toString(), block: headerCid(header).toString() })
    throw new SyncError('CONSENSUS_FAULT', text)
  }

  /**
   * Takes a block that a producer made elsewhere: keeps its messages, checks it, moves the head.
   * @throws SyncError `MESSAGES_INVALID`, `BAD_BLOCK`, …
   * @see lotus node/impl/full/sync.go SyncSubmitBlock
   */
  async submit({ header, messages }: FullBlock, signal: AbortSignal = this.#stopping.signal): Promise<void> {
    const { store } = this.#view
    const wrong = keepMessages(store.blocks, header, messages)
    if (wrong !== undefined) {
      throw new SyncError('MESSAGES_INVALID', `provided messages did not match block: ${wrong}`)
    }
    store.putHeader(header)
    await this.#syncTo(createTipset([header]), signal, false)
  }

  /**
   * Makes a tipset the checkpoint, behind which the head never goes: of the head's own chain, or of one that is synchronised
   * to now.
   * @throws SyncError `BAD_KEY`, `BAD_BLOCK` when one of its blocks is; ChainError `CHECKPOINT_REFUSED`; whatever the sync throws
   * @see lotus chain/checkpoint.go SyncCheckpoint
   */
  async checkpoint(key: TipsetKey, signal: AbortSignal = this.#stopping.signal): Promise<void> {
    if (key.length === 0) throw new SyncError('BAD_KEY', 'called with empty tsk')
    const { store, network } = this.#view
    const tipset = await this.#tipset(key, signal)
    if (!(await this.#isOnChain(tipset, signal))) {
      await this.#syncTo(tipset, signal, true)
      // To the sync one valid block is enough, and the head would never leave the others.
      if (!this.#validated.hasTipset(tipset)) {
        const reason = this.#bad.find(key)?.reason
        const why = reason === undefined ? 'a block of it is not valid' : badReasonText(reason)
        throw new SyncError('BAD_BLOCK', `failed to collect chain for checkpoint: ${why}`)
      }
    }
    store.setCheckpoint(tipset, network.protocol.chainFinality)
  }

  /** All checks of a tipset whose blocks and messages are here, whatever was found before. @throws the first failure */
  async validateTipset(key: TipsetKey, signal: AbortSignal = this.#stopping.signal): Promise<void> {
    await this.#validator.check(this.#view.store.tipsetOrHead(key), signal)
  }

  markBad(cid: Cid): void {
    this.#bad.add(cid, { reason: MANUALLY, tipset: [cid] })
    this.#forget(cid)
  }

  unmarkBad(cid: Cid): void {
    this.#bad.remove(cid)
  }

  unmarkAllBad(): void {
    this.#bad.clear()
  }

  /** Why a block is bad; undefined when it is not known to be. */
  whyBad(cid: Cid): string | undefined {
    const reason = this.#bad.get(cid)
    return reason === undefined ? undefined : badReasonText(reason)
  }

  /** One worker at least: Lotus' clients wait for ever without any. One that does not work yet says what it waits for. */
  state(): SyncState {
    const activeSyncs = this.#scheduler.states()
    if (activeSyncs.length === 0) {
      const head = this.#view.store.head()
      const message = this.#waitingText()
      const stage = this.#deps.makesBlocks === true && message === '' ? SYNC_STAGE.complete : SYNC_STAGE.idle
      const still = { workerId: 0, base: head, target: head, stage, height: head.height, message }
      activeSyncs.push({ ...still, startMs: undefined, endMs: undefined })
    }
    return { activeSyncs, vmApplied: this.#validator.applied }
  }

  #waitingText(): string {
    const waits = this.#scheduler.waits
    // A single peer is worth no line: a chain's first node has none.
    if (waits === undefined || waits.threshold <= 1) return ''
    return `waits for heads of ${waits.threshold} peers, has ${waits.heads}`
  }

  /** The highest of the heads that peers named and that have yet to be fetched; nothing of it is checked. */
  get awaitedHead(): ChainEpoch | undefined {
    return this.#intake.awaited
  }

  /** Whether a worker is under way. */
  get isWorking(): boolean {
    return this.#scheduler.isWorking
  }

  /** Blocks that went through all checks since the start. */
  get checkedBlocks(): number {
    return this.#validator.checkedBlocks
  }

  async #syncTo(target: Tipset, signal: AbortSignal, ignoreCheckpoint: boolean): Promise<void> {
    const progress = new SyncProgress(0, () => this.#deps.clock.nowMs())
    const reason = this.#bad.find(target.key)?.reason
    if (reason !== undefined) throw new SyncError('BAD_BLOCK', `block was marked bad: ${badReasonText(reason)}`)
    await runSync(this.#run, { target, prefer: undefined, progress, signal, ignoreCheckpoint })
  }

  /** Whether a tipset is the head or below it. Far below it is a long walk away. */
  async #isOnChain(tipset: Tipset, signal: AbortSignal): Promise<boolean> {
    const { store } = this.#view
    const head = store.head()
    if (tipset.height > head.height) return false
    const pace = new Pace(this.#deps.clock, this.#deps.timers, STRETCH_MS)
    const own = await pace.walk(store.findByHeight(tipset.height, head, 'next'), signal)
    return equalTipsetKeys(own.key, tipset.key)
  }

  /** A tipset by key, fetched where its headers are not here. */
  async #tipset(key: TipsetKey, signal: AbortSignal): Promise<Tipset> {
    const { store } = this.#view
    try {
      return store.tipset(key)
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
    }
    const { tipsets } = await this.#deps.source.fetch({ head: key, length: 1, messages: false }, { signal })
    for (const { tipset } of tipsets) for (const block of tipset.blocks) store.putHeader(block)
    return store.tipset(key)
  }

  /** Found valid before, and with the state that executing it begins with. */
  #isValid(tipset: Tipset): boolean {
    if (!this.#validated.hasTipset(tipset)) return false
    return this.#deps.vm === undefined || hasBlock(this.#view.store.blocks, firstBlock(tipset).parentStateRoot)
  }

  /** A block that the operator does not want is no longer valid either. */
  #forget(cid: Cid): void {
    try {
      const header = this.#view.store.header(cid)
      this.#validated.remove(header.height, headerCid(header))
      this.#tracker.remove(header)
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
    }
  }

  #prune(): void {
    this.#headMoves = 0
    const floor = this.#view.store.head().height - this.#view.network.protocol.chainFinality
    this.#tracker.prune(floor)
    this.#validated.prune(floor).catch((error: unknown) => {
      this.#deps.log.debug('old marks of blocks stay', { reason: errorMessage(error) })
    })
  }
}
