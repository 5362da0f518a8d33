/** Calls of the machine that wait for a thread, and whose turn it is. */
import { ChainError } from '../chain/errors.ts'
import { MAX_WAITING_CALLS, MAX_WAITING_READS } from '../chain/limits.ts'
import { URGENCY, type Urgency } from '../chain/urgency.ts'
import type { VmCall, VmResult } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'

/** A call on its way: waiting, then running in one thread, then done. */
export interface Job {
  /** The headers of its tipset may not be in the store yet. */
  readonly call: VmCall
  readonly urgency: Urgency
  /** Blocks that it asked for and that the chain does not have. */
  readonly absent: Cid[]
  runs: number
  /** It runs on and nobody waits for it. */
  isCancelled: boolean
  /** Of who asked: aborted when nobody waits for it. */
  readonly signal: AbortSignal | undefined
  resolve(result: VmResult): void
  reject(error: Error): void
}

/** Asked by a caller, it is for a read of what a tipset left: cheap where the chain says it, and else counted as what executes. */
function isOfRead({ method }: VmCall): boolean {
  return method === 'executeTipset' || method === 'recheckTipset'
}

function isForCaller({ urgency }: Pick<Job, 'urgency'>): boolean {
  return urgency.level === URGENCY.caller
}

/**
 * What the chain waits for goes first, then what the node sends, then callers: among them reads and other calls take turns, so that
 * neither kind waits for all of the other. Each kind has its bound; what is not for callers has none.
 */
export class JobQueue {
  readonly #jobs: Job[] = []
  readonly #most: number
  #lastWasRead = false

  /** @param most - calls of callers that wait */
  constructor(most: number = MAX_WAITING_CALLS) {
    this.#most = most
  }

  get length(): number {
    return this.#jobs.length
  }

  /** @throws ChainError `VM_BUSY` when one more of its kind may not wait */
  assertRoom(asked: Pick<Job, 'call' | 'urgency'>): void {
    if (!isForCaller(asked)) return
    const isRead = isOfRead(asked.call)
    const most = isRead ? Math.min(MAX_WAITING_READS, this.#most) : this.#most
    let waiting = 0
    for (const job of this.#jobs) if (isForCaller(job) && isOfRead(job.call) === isRead) waiting++
    if (waiting < most) return
    throw new ChainError('VM_BUSY', `Cannot execute now: ${most} executions are waiting already`, { waiting: most })
  }

  push(job: Job): void {
    this.#jobs.push(job)
  }

  /** The one whose turn it is. */
  first(): Job | undefined {
    let first: Job | undefined
    for (const job of this.#jobs) if (first === undefined || this.#rank(job) > this.#rank(first)) first = job
    return first
  }

  /** The {@link first} has its turn. */
  take(job: Job): void {
    this.remove(job)
    if (isForCaller(job)) this.#lastWasRead = isOfRead(job.call)
  }

  remove(job: Job): void {
    const at = this.#jobs.indexOf(job)
    if (at >= 0) this.#jobs.splice(at, 1)
  }

  /** @returns all of them; none waits any more */
  drain(): Job[] {
    return this.#jobs.splice(0)
  }

  #rank(job: Job): number {
    const hasTurn = isForCaller(job) && isOfRead(job.call) !== this.#lastWasRead
    return 2 * job.urgency.level + (hasTurn ? 1 : 0)
  }
}
