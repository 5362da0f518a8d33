/**
 * One worker's way to its target: headers down to what is known, then messages and checks upwards, then the head.
 * @see lotus chain/sync.go Sync, collectChain, syncMessagesAndCheckState
 */
import { errorMessage } from '../base/errors.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { BlockEdge } from '../ipld/blockFetcher.ts'
import type { ChainSource } from '../p2p/chainSource.ts'
import { P2pError } from '../p2p/errors.ts'
import type { Misbehaviour, PeerName } from '../p2p/peerLinks.ts'
import type { Tipset, TipsetKey } from '../types/tipset.ts'
import { type BadBlocks, linkedReason } from './badBlocks.ts'
import { collectHeaders } from './collectHeaders.ts'
import { SyncError } from './errors.ts'
import { fetchMessages, hasMessages } from './fetchMessages.ts'
import type { ForkChoice } from './forkChoice.ts'
import { HEAD_STEP, MESSAGE_WINDOW, PRUNE_STEP, ROW_TIPSETS } from './limits.ts'
import { SYNC_STAGE, type SyncProgress } from './syncState.ts'
import type { TipsetTracker } from './tipsetTracker.ts'
import type { TipsetValidator } from './tipsetValidator.ts'
import type { ValidatedBlocks } from './validatedBlocks.ts'
import { mayWin } from './worth.ts'

/** What all workers share. */
export interface SyncRunDeps {
  readonly view: ChainView
  readonly source: ChainSource
  readonly edge: BlockEdge
  readonly bad: BadBlocks
  readonly validated: ValidatedBlocks
  readonly tracker: TipsetTracker
  readonly forkChoice: ForkChoice
  readonly validator: TipsetValidator
  readonly isValid: (tipset: Tipset) => boolean
  readonly report: (peer: PeerName, what: Misbehaviour) => void
}

/** One run: its target, and who follows and ends it. */
export interface SyncRunOptions {
  readonly target: Tipset
  /** Who offered it; asked first. */
  readonly prefer: PeerName | undefined
  readonly progress: SyncProgress
  readonly signal: AbortSignal
  readonly ignoreCheckpoint: boolean
}

/**
 * @throws SyncError, P2pError, BlockMissing: the target was not reached; what was validated on the way stays valid
 */
export async function runSync(deps: SyncRunDeps, options: SyncRunOptions): Promise<void> {
  const { progress, target, signal } = options
  const { store } = deps.view
  const head = store.head()
  if (!options.ignoreCheckpoint && isCovered(deps.view, target, head)) {
    progress.begin(head, target)
    progress.height(target.height)
    progress.stage(SYNC_STAGE.complete)
    return
  }
  progress.begin(head, target)
  const keys = await collectHeaders({ ...deps, store, network: deps.view.network }, options)
  progress.stage(SYNC_STAGE.messages)
  const undecided = await new ForwardPass(deps, options, keys).run()
  await deps.edge(() => deps.forkChoice.refresh(target.height), signal)
  progress.height(target.height)
  if (undecided !== undefined) throw undecided
  progress.stage(SYNC_STAGE.complete)
}

/** Whether there is nothing in a target that the head does not have, or that could win over it. */
function isCovered(view: ChainView, target: Tipset, head: Tipset): boolean {
  if (target.height === 0 || !mayWin(view, target)) return true
  return target.height === head.height && target.key.every((cid) => head.key.some((own) => own.equals(cid)))
}

/** @param tipsets - newest first */
function messagesGone(tipsets: readonly Tipset[], cause: unknown): SyncError {
  const [newest, oldest] = [tipsets[0]?.height, tipsets.at(-1)?.height]
  const text =
    `no peer has the messages of epochs ${oldest} to ${newest}. Most keep those of some 2000 epochs: a node that was away for longer ` +
    'goes on from a newer snapshot in another --repo, to which petrel backup and restore take keys and messages, or from a peer that ' +
    `keeps all: ${errorMessage(cause)}`
  return new SyncError('MESSAGES_UNAVAILABLE', text, { oldest, newest }, { cause })
}

class ForwardPass {
  readonly #deps: SyncRunDeps
  readonly #options: SyncRunOptions
  /** Newest first. */
  readonly #keys: readonly TipsetKey[]
  readonly #ended = new AbortController()
  /** The highest tipset that is valid with all below it. */
  #top: Tipset | undefined

  constructor(deps: SyncRunDeps, options: SyncRunOptions, keys: readonly TipsetKey[]) {
    this.#deps = deps
    this.#options = options
    this.#keys = keys
  }

  /** @returns why a block of the target could be judged neither valid nor bad, while another is valid */
  async run(): Promise<Error | undefined> {
    try {
      return await this.#upwards()
    } catch (error) {
      await this.#takeTop()
      throw error
    } finally {
      this.#ended.abort()
    }
  }

  /** What lies below a failure is as good as what a step of the head would have taken. */
  async #takeTop(): Promise<void> {
    const { forkChoice, edge } = this.#deps
    const { signal } = this.#options
    const top = this.#top
    if (top !== undefined && !signal.aborted) await edge(() => forkChoice.consider(top), signal)
  }

  async #upwards(): Promise<Error | undefined> {
    // What the next window takes comes while this one is checked.
    let coming = this.#comes(this.#keys.length - 1)
    for (let top = this.#keys.length - 1; top >= 0; top -= MESSAGE_WINDOW) {
      await this.#awaited(coming)
      coming = this.#comes(top - MESSAGE_WINDOW)
      // Seen when its turn comes.
      coming.catch(() => undefined)
      const last = Math.max(0, top - MESSAGE_WINDOW + 1)
      for (let at = top; at >= Math.max(1, last); at -= ROW_TIPSETS)
        await this.#row(at, Math.max(1, last, at - ROW_TIPSETS + 1))
      if (last === 0) return await this.#target()
    }
    return undefined
  }

  async #awaited(coming: Promise<void>): Promise<void> {
    const { progress } = this.#options
    progress.stage(SYNC_STAGE.fetchingMessages)
    await coming
    progress.stage(SYNC_STAGE.messages)
  }

  /** Fetches what is missing in the window whose oldest tipset is at `top`; of its state what comes in time. */
  async #comes(top: number): Promise<void> {
    if (top < 0) return
    const { view, validator } = this.#deps
    const newest = Math.max(0, top - MESSAGE_WINDOW + 1)
    const tipsets = this.#keys.slice(newest, top + 1).map((key) => view.store.tipset(key))
    validator.comes(tipsets.toReversed(), AbortSignal.any([this.#options.signal, this.#ended.signal]))
    await this.#messages(tipsets)
  }

  /** @param tipsets - newest first */
  async #messages(tipsets: readonly Tipset[]): Promise<void> {
    const { view } = this.#deps
    const lacks = (tipset: Tipset): boolean => !tipset.blocks.every((block) => hasMessages(view, block))
    const first = tipsets.findIndex(lacks)
    if (first < 0) return
    const { prefer, signal } = this.#options
    const missing = tipsets.slice(first, tipsets.findLastIndex(lacks) + 1)
    try {
      await fetchMessages(this.#deps, missing, { prefer, signal })
    } catch (error) {
      throw this.#isGone(missing, error) ? messagesGone(missing, error) : error
    }
  }

  /** Whether peers may have collected the messages of these: nobody keeps those of all epochs for ever. */
  #isGone(tipsets: readonly Tipset[], error: unknown): boolean {
    const age = this.#options.target.height - (tipsets.at(-1)?.height ?? 0)
    const failed = error instanceof P2pError && error.code === 'ALL_PEERS_FAILED'
    return failed && age > this.#deps.view.network.protocol.chainFinality
  }

  /** The target: one valid block of several is something; which tipset they make decides the fork choice. */
  async #target(): Promise<Error | undefined> {
    const { view, validator } = this.#deps
    const { signal, progress } = this.#options
    const tipset = view.store.tipset(this.#keys[0] as TipsetKey)
    const { valid, failure } = await validator.validateBlocks(tipset, { signal, goesOn: false })
    if (valid.length === 0 && failure !== undefined) throw failure
    progress.height(tipset.height)
    return failure instanceof SyncError && failure.code === 'BAD_BLOCK' ? undefined : failure
  }

  /** Tipsets from the position `from` (the oldest) to `to`, both included. */
  async #row(from: number, to: number): Promise<void> {
    const { view, validator } = this.#deps
    const { signal } = this.#options
    const keys = this.#keys.slice(to, from + 1).reverse()
    let at = from
    try {
      await validator.validateRow(
        keys.map((key) => view.store.tipset(key)),
        { signal, goesOn: true },
        (tipset) => this.#passed(tipset, at--),
      )
    } catch (error) {
      if (error instanceof SyncError && error.code === 'BAD_BLOCK') this.#markAbove(at, error)
      throw error
    }
  }

  /** A tipset on the way is valid, and all below it. */
  async #passed(tipset: Tipset, at: number): Promise<void> {
    const { forkChoice, edge } = this.#deps
    const { signal, progress } = this.#options
    progress.height(tipset.height)
    this.#top = tipset
    const done = this.#keys.length - at
    if (done % HEAD_STEP === 0) await edge(() => forkChoice.consider(tipset), signal)
    if (done % PRUNE_STEP === 0) await this.#prune()
  }

  /** Whatever builds on a bad tipset is bad. */
  #markAbove(at: number, error: SyncError): void {
    const { bad } = this.#deps
    const cause = bad.find(this.#keys[at] as TipsetKey)?.reason ?? {
      reason: error.message,
      tipset: this.#keys[at] ?? [],
    }
    const name = this.#keys[at]?.join(' ') ?? ''
    for (let above = 0; above < at; above++) {
      bad.addAll(this.#keys[above] as TipsetKey, linkedReason(cause, `linked to ${name}`))
    }
  }

  async #prune(): Promise<void> {
    const { view, tracker, validated } = this.#deps
    const floor = view.store.head().height - view.network.protocol.chainFinality
    tracker.prune(floor)
    await validated.prune(floor)
  }
}
