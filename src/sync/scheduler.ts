/**
 * Decides which target is synchronised to, when, and by how many workers.
 * @see lotus chain/sync_manager.go syncManager
 */
import { errorMessage } from '../base/errors.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { P2pError } from '../p2p/errors.ts'
import type { PeerName } from '../p2p/peerLinks.ts'
import { equalTipsetKeys, type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { SyncError, type SyncErrorCode } from './errors.ts'
import { INITIAL_SYNC_MS, MAX_HEADS, MAX_WORKERS, SYNC_AGAIN_MS, WORKER_HISTORY } from './limits.ts'
import { type ActiveSync, SyncProgress } from './syncState.ts'
import { isHeavier, isRelated, RecentTargets, TargetBuckets } from './targets.ts'

/** What a worker works at. */
export interface SyncJob {
  readonly target: Tipset
  /** Who offered it. */
  readonly peer: PeerName | undefined
  readonly progress: SyncProgress
  readonly signal: AbortSignal
}

/** How a target is judged and synchronised to. */
export interface SchedulerDeps {
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Peers whose heads are known before the first sync begins. */
  readonly threshold: number
  /** Whether a target may still become the head. */
  readonly mayWin: (target: Tipset) => boolean
  /** Synchronises to one target. */
  readonly run: (job: SyncJob) => Promise<void>
}

/** A chain that was not to be had now may be later: who named it may still be fetching it. */
const UNAVAILABLE: ReadonlySet<SyncErrorCode> = new Set([
  'HEADERS_UNAVAILABLE',
  'MESSAGES_UNAVAILABLE',
  'STATE_UNAVAILABLE',
])

function mayPass(failure: unknown): boolean {
  if (failure instanceof P2pError || failure instanceof BlockMissing) return true
  return failure instanceof SyncError && UNAVAILABLE.has(failure.code)
}

interface Worker {
  readonly target: Tipset
  readonly progress: SyncProgress
  readonly done: Promise<void>
}

/**
 *   waiting for heads --threshold reached--> running --stop--> stopped
 */
export class SyncScheduler {
  readonly #deps: SchedulerDeps
  readonly #heads = new Map<PeerName, Tipset>()
  readonly #workers = new Map<number, Worker>()
  readonly #history: SyncProgress[] = []
  /** Follow a target that is being worked at. */
  readonly #pending = new TargetBuckets()
  /** Other chains, for which there was no worker. */
  readonly #deferred = new TargetBuckets()
  readonly #recent = new RecentTargets()
  /** Who offered a target that waits, by its key. */
  readonly #offeredBy = new Map<string, PeerName>()
  readonly #stopping = new AbortController()
  /** How often a target, by its key, was not to be had. */
  readonly #missed = new Map<string, number>()
  #nextWorker = 0
  #initialSyncDone = false

  constructor(deps: SchedulerDeps) {
    this.#deps = deps
  }

  /** A tipset that a peer named as its head, or passed on. */
  offer(peer: PeerName, tipset: Tipset): void {
    if (this.#stopping.signal.aborted) return
    if (this.#nextWorker > 0) {
      this.#remember(peer, tipset)
      const target = this.#place(tipset)
      if (target !== undefined) this.#spawn(target)
      return
    }
    this.#heads.delete(peer)
    this.#heads.set(peer, tipset)
    if (this.#heads.size > MAX_HEADS) this.#heads.delete(this.#heads.keys().next().value as PeerName)
    if (this.#heads.size >= this.#deps.threshold) this.#begin()
    else this.#deps.log.info('the first sync waits for heads of more peers', { ...this.waits })
  }

  /** Peers whose heads are known, and how many there must be before the first sync; undefined: it has begun. */
  get waits(): { readonly heads: number; readonly threshold: number } | undefined {
    return this.#nextWorker > 0 ? undefined : { heads: this.#heads.size, threshold: this.#deps.threshold }
  }

  /** Running and ended workers, by number. */
  states(): ActiveSync[] {
    const running = [...this.#workers.values()].map((worker) => worker.progress)
    return [...this.#history, ...running].sort((a, b) => a.workerId - b.workerId).map((progress) => progress.state)
  }

  get isWorking(): boolean {
    return this.#workers.size > 0
  }

  /** Ends all workers; resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([...this.#workers.values()].map((worker) => worker.done))
  }

  /** The heaviest of the heads that were heard of; the others' turn comes after it, should it turn out to be a lie. */
  #begin(): void {
    for (const [peer, head] of this.#heads) {
      this.#deferred.insert(head)
      this.#remember(peer, head)
    }
    this.#heads.clear()
    const [target, ...others] = this.#deferred.takeAll()
    for (const other of others) this.#deferred.insert(other)
    if (target !== undefined) this.#spawn(target)
  }

  #remember(peer: PeerName, tipset: Tipset): void {
    const key = tipsetKeyText(tipset.key)
    this.#offeredBy.delete(key)
    this.#offeredBy.set(key, peer)
    if (this.#offeredBy.size > MAX_HEADS) this.#offeredBy.delete(this.#offeredBy.keys().next().value as string)
  }

  /** Puts a target where it belongs. @returns what is to be worked at now */
  #place(tipset: Tipset): Tipset | undefined {
    if (this.#isDone(tipset)) return undefined
    if (this.#workers.size === 0) return tipset
    for (const { target } of this.#workers.values()) {
      if (equalTipsetKeys(target.key, tipset.key)) return undefined
      if (isRelated(target, tipset)) {
        this.#pending.insert(tipset)
        return undefined
      }
    }
    if (this.#pending.isRelated(tipset)) {
      this.#pending.insert(tipset)
      return undefined
    }
    // Another chain: worth a worker of its own only when it is not lighter than what is being worked at.
    const others = [...this.#workers.values()].map(({ target }) => target)
    const isLighter = [...others, this.#pending.heaviest() ?? tipset].some((other) => isHeavier(other, tipset))
    if (!isLighter && this.#initialSyncDone && this.#workers.size < MAX_WORKERS) return tipset
    this.#deferred.insert(tipset)
    return undefined
  }

  /** Reached, or overtaken meanwhile; where a disk that fails lets nobody tell, its turn comes later. */
  #isDone(tipset: Tipset): boolean {
    if (this.#recent.has(tipset)) return true
    try {
      return !this.#deps.mayWin(tipset)
    } catch (error) {
      this.#deps.log.debug('a target could not be judged', { height: tipset.height, message: errorMessage(error) })
      this.#tryLater(tipset)
      return true
    }
  }

  #spawn(target: Tipset): void {
    const id = this.#nextWorker++
    const { clock, log } = this.#deps
    const progress = new SyncProgress(id, () => clock.nowMs())
    const peer = this.#offeredBy.get(tipsetKeyText(target.key))
    const started = clock.monotonicMs()
    const work = async (): Promise<void> => {
      let failure: unknown
      try {
        await this.#deps.run({ target, peer, progress, signal: this.#stopping.signal })
      } catch (error) {
        failure = error
        progress.fail(errorMessage(error))
        if (!this.#stopping.signal.aborted) {
          log.warn('sync failed', { worker: id, height: target.height, message: errorMessage(error) })
        }
      }
      if (mayPass(failure)) this.#tryLater(target)
      this.#ended(id, failure === undefined, clock.monotonicMs() - started)
    }
    // A turn later: who offers must not wait for the work.
    const done = Promise.resolve().then(work)
    this.#workers.set(id, { target, progress, done })
  }

  /**
   * A target that nobody could give is tried again after a while, unless something else has become the head: the next block
   * would bring its chain, but may be long in coming, or never come. (Lotus waits for that block.)
   */
  #tryLater(target: Tipset): void {
    const key = tipsetKeyText(target.key)
    const missed = this.#missed.get(key) ?? 0
    const ms = SYNC_AGAIN_MS[missed]
    if (ms === undefined || this.#stopping.signal.aborted) return
    this.#missed.delete(key)
    this.#missed.set(key, missed + 1)
    if (this.#missed.size > MAX_HEADS) this.#missed.delete(this.#missed.keys().next().value as string)
    this.#deps.timers.setTimeout(() => {
      if (this.#stopping.signal.aborted) return
      const again = this.#place(target)
      if (again !== undefined) this.#spawn(again)
    }, ms)
  }

  #ended(id: number, succeeded: boolean, tookMs: number): void {
    const worker = this.#workers.get(id)
    if (worker === undefined) return
    this.#workers.delete(id)
    this.#history.push(worker.progress)
    if (this.#history.length > WORKER_HISTORY) this.#history.shift()
    if (succeeded) {
      this.#recent.push(worker.target)
      if (tookMs < INITIAL_SYNC_MS) this.#initialSyncDone = true
    }
    if (this.#stopping.signal.aborted) return
    const next = this.#nextAfter(worker.target) ?? this.#nextDeferred()
    if (next !== undefined) this.#spawn(next)
    while (this.#initialSyncDone && this.#workers.size < MAX_WORKERS) {
      const more = this.#nextDeferred()
      if (more === undefined) return
      this.#spawn(more)
    }
  }

  /** What follows a target that was worked at. */
  #nextAfter(done: Tipset): Tipset | undefined {
    const next = this.#pending.takeRelated(done)
    return next === undefined || this.#isDone(next) ? undefined : next
  }

  #nextDeferred(): Tipset | undefined {
    for (let next = this.#deferred.takeHeaviest(); next !== undefined; next = this.#deferred.takeHeaviest()) {
      const candidate = next
      if (this.#isDone(candidate)) continue
      const others = [...this.#workers.values()]
      if (this.#pending.isRelated(candidate) || others.some(({ target }) => isRelated(target, candidate))) {
        if (!others.some(({ target }) => equalTipsetKeys(target.key, candidate.key))) this.#pending.insert(candidate)
        continue
      }
      return candidate
    }
    return undefined
  }
}
