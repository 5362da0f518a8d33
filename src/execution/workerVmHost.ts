/** The machine in threads of its own: the node stays free to answer while one executes. */
import { errorMessage } from '../base/errors.ts'
import type { Logger, Timers, WorkerPort } from '../base/ports.ts'
import { whenAborted, withTimeout } from '../base/waiting.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { CANCELLED_RUN_MS, MAX_SUPPLIED_RUNS } from '../chain/limits.ts'
import { recordedState } from '../chain/recordedState.ts'
import { URGENCY, Urgency } from '../chain/urgency.ts'
import { type VmCall, VmHost, type VmResult } from '../chain/vm.ts'
import { type Cid, cidFromBytes } from '../codec/cid.ts'
import { encode } from '../codec/description.ts'
import { VmError } from '../fvm/errors.ts'
import { type Blockstore, getBlock, hasBlock, LayeredBlockstore, MemoryBlockstore } from '../ipld/blockstore.ts'
import { BlockMissing, IpldError } from '../ipld/errors.ts'
import { blockHeader } from '../types/blockHeader.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import { supplyBlocks } from './blockSupply.ts'
import { FetchedRuns } from './fetchedRuns.ts'
import { type Job, JobQueue } from './jobQueue.ts'
import { TellMessages } from './priorMessages.ts'
import { SentNames } from './sentNames.ts'
import { thrownError } from './vmErrors.ts'
import {
  answerFromBytes,
  partFromBytes,
  questionToBytes,
  type SentBlock,
  type ToldCall,
  type VmQuestion,
  type VmStart,
} from './vmMessages.ts'

/** What the host is made of. */
export interface WorkerVmHostDeps {
  readonly view: ChainView
  /** Starts a thread that serves the machine ({@link serveVm}). */
  readonly startThread: () => WorkerPort
  /**
   * Most threads at once, each started when it is first needed. One more comes when all of them are busy with what callers ask
   * and the chain itself or the operator waits: neither following it nor sending must wait for callers.
   */
  readonly threads: number
  /** Most calls of callers that wait for a thread. Default {@link MAX_WAITING_CALLS}. */
  readonly maxWaiting?: number
  /** Writes all that was put into the chain's blocks to disk. Default: they are there when they are put. */
  readonly commit?: (() => Promise<void>) | undefined
  readonly timers: Timers
  readonly log: Logger
}

/** A running thread. */
interface Thread {
  readonly port: WorkerPort
  /** Names of blocks that it was sent or made. */
  readonly sent: SentNames
  readonly told: TellMessages
  started: boolean
  /** What it was asked and has not answered, in order: the first one runs. */
  readonly jobs: Job[]
  /** It is asked again: it does not end of having nothing to do. */
  stay: () => void
}

/** How long a run waits for a block that is fetched for it. Slower ones are fetched while the thread does something else. */
const QUICK_MS = 250
/** How long one beyond the first keeps its memory (some 150 MB on mainnet's state) without anything to do, milliseconds. */
const IDLE_MS = 120_000

/**
 * Most that a thread is asked at once. Behind a short call others wait in the thread itself, not here: between two of them neither
 * side has to be woken, which costs more than a transfer's estimate where the machine is busy.
 */
const MAX_ASKED = 32

/** One that is soon answered, so that others may stand behind it: the estimate of a plain transfer. */
function isShort(call: VmCall): boolean {
  return call.method === 'callWithGas' && call.message.method === 0n && !call.options.tracing
}

/**
 * A `VmHost` whose work is done by threads. They read the chain's blocks where they can and are sent what they lack; what
 * an execution writes comes back and is stored here, so that only one side ever writes.
 *
 * A job that is cancelled while it runs is given up by its thread at the next charge of gas. One that has not ended within
 * {@link CANCELLED_RUN_MS} (a loop of Wasm without a syscall) costs its thread, and a new one costs a second of processor time.
 * A thread that dies fails its job as undecided (VmError `HOST_FAILED`); the next job gets a new one.
 */
export class WorkerVmHost extends VmHost {
  /** Which of its executions may fetch while they run. */
  readonly fetched: FetchedRuns = new FetchedRuns()
  readonly #deps: WorkerVmHostDeps
  readonly #threads = new Set<Thread>()
  readonly #waiting: JobQueue
  /** Actors' code that the chain does not have; undefined: none was missed so far. To look for all of it takes long. */
  #absentCode: readonly Cid[] | undefined
  #closed = false

  constructor(deps: WorkerVmHostDeps) {
    super()
    this.#deps = deps
    this.#waiting = new JobQueue(deps.maxWaiting)
  }

  async run(asked: VmCall, signal?: AbortSignal): Promise<VmResult> {
    const { urgency = new Urgency(URGENCY.caller), ...call } = asked
    const { method, tipset } = call
    if (method === 'tipsetState') {
      const known = recordedState(this.#deps.view.store, tipset)
      return known ?? this.#submit({ method: 'executeTipset', tipset }, urgency, signal)
    }
    return await this.#submit(call, urgency, signal)
  }

  /** Calls that wait for a thread, those that run, threads: for metrics. */
  get load(): { readonly waiting: number; readonly running: number; readonly threads: number } {
    let running = 0
    for (const { jobs } of this.#threads) running += jobs.length
    return { waiting: this.#waiting.length, running, threads: this.#threads.size }
  }

  /** Ends all threads; calls under way fail with ChainError `VM_CLOSED`, as do later ones. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    const left = [...this.#waiting.drain(), ...[...this.#threads].flatMap(({ jobs }) => jobs)]
    for (const thread of [...this.#threads]) this.#end(thread)
    for (const job of left) job.reject(closed())
  }

  /** @throws ChainError `VM_BUSY`, `VM_CLOSED`, `CANCELLED`, as rejections */
  async #submit(call: VmCall, urgency: Urgency, signal: AbortSignal | undefined): Promise<VmResult> {
    if (this.#closed) throw closed()
    if (signal?.aborted === true) throw cancelled()
    if (this.#freeThread({ call, urgency }) === undefined) this.#waiting.assertRoom({ call, urgency })
    let stopListening = (): void => undefined
    const stopWatching = urgency.onRaise(() => this.#next())
    try {
      return await new Promise<VmResult>((resolve, reject) => {
        const job: Job = { call, urgency, absent: [], runs: 0, isCancelled: false, signal, resolve, reject }
        stopListening = whenAborted(signal, () => this.#cancel(job))
        this.#waiting.push(job)
        this.#next()
      })
    } finally {
      stopListening()
      stopWatching()
    }
  }

  #cancel(job: Job): void {
    this.#waiting.remove(job)
    job.isCancelled = true
    for (const thread of this.#threads) if (thread.jobs.includes(job)) this.#giveUp(thread)
    job.reject(cancelled())
    this.#next()
  }

  /** When nobody waits for any of what it was asked. */
  #giveUp(thread: Thread): void {
    const { timers } = this.#deps
    if (thread.jobs.some(({ isCancelled }) => !isCancelled)) return
    thread.port.giveUp?.()
    const last = thread.jobs.at(-1) as Job
    const end = (): void => {
      if (!thread.jobs.includes(last)) return
      // Whoever asks and goes again at once must not keep a thread from ever starting.
      if (thread.port.isStarting?.() === true) return endLater()
      this.#end(thread)
      this.#next()
    }
    // Not at once: where the loop was busy, the answer has come already and waits behind the timer.
    const endLater = (): void => void timers.setTimeout(() => timers.setTimeout(end, 0), CANCELLED_RUN_MS)
    endLater()
  }

  /** One that does nothing, or a new one where there may be more. */
  #freeThread({ call, urgency }: Pick<Job, 'call' | 'urgency'>): Thread | 'new' | undefined {
    const behind = isShort(call) ? this.#shortThread() : undefined
    if (behind !== undefined) return behind
    let idle: Thread | undefined
    let busy = 0
    for (const thread of this.#threads) {
      if (thread.jobs.length > 0) busy++
      else idle ??= thread
    }
    if (busy >= this.#deps.threads + (urgency.level > URGENCY.caller ? 1 : 0)) return undefined
    return idle ?? 'new'
  }

  /** One that is busy with short calls alone, all of them waited for, and has room behind them. */
  #shortThread(): Thread | undefined {
    for (const thread of this.#threads) {
      const { jobs } = thread
      if (jobs.length === 0 || jobs.length >= MAX_ASKED) continue
      if (jobs.every(({ call, isCancelled }) => isShort(call) && !isCancelled)) return thread
    }
    return undefined
  }

  #takeWaiting(): { readonly job: Job; readonly free: Thread | 'new' } | undefined {
    const job = this.#waiting.first()
    const free = job === undefined ? undefined : this.#freeThread(job)
    if (job === undefined || free === undefined) return undefined
    this.#waiting.take(job)
    return { job, free }
  }

  /** Gives waiting jobs to free threads. */
  #next(): void {
    for (;;) {
      const next = this.#takeWaiting()
      if (next === undefined) return
      const { job, free } = next
      try {
        this.#ask(free === 'new' ? this.#startThread() : free, job, [])
      } catch (error) {
        job.reject(asError(error))
      }
    }
  }

  #startThread(): Thread {
    const thread: Thread = {
      port: this.#deps.startThread(),
      sent: new SentNames(),
      told: new TellMessages(),
      started: false,
      jobs: [],
      stay: () => undefined,
    }
    this.#threads.add(thread)
    // It may have come meanwhile.
    this.#absentCode = undefined
    thread.port.onMessage((message) => this.#answered(thread, message))
    thread.port.onPart?.((message) => this.#takePart(thread, message))
    thread.port.onAsk?.((cid) => this.#bring(thread, cidFromBytes(cid)))
    thread.port.onEnd((reason) => {
      const left = this.#end(thread)
      const why = reason === undefined ? 'it ended' : errorMessage(reason)
      this.#deps.log.error("the machine's thread ended", { why })
      const text = `Cannot execute: the machine's thread is gone: ${why}`
      for (const job of left) job.reject(new VmError('HOST_FAILED', text, {}, { cause: reason }))
      this.#next()
    })
    return thread
  }

  /** @returns what it had not answered */
  #end(thread: Thread): Job[] {
    thread.stay()
    if (this.#threads.delete(thread)) thread.port.close()
    return thread.jobs.splice(0)
  }

  /** @throws what cannot be written down; then nothing was asked */
  #ask(thread: Thread, job: Job, blocks: readonly SentBlock[]): void {
    job.runs++
    thread.stay()
    const start = thread.started ? null : this.#start()
    const asks = this.fetched.edge(job.call.tipset) !== undefined
    thread.port.post(questionToBytes({ start, ...told(job.call, thread.told), blocks, absent: job.absent, asks }))
    thread.started = true
    thread.jobs.push(job)
  }

  #start(): VmStart {
    const { network, store } = this.#deps.view
    const [genesis] = store.genesis().key
    return { network, genesis: genesis as Cid, absent: this.#absentCode ?? [] }
  }

  /** Where actors are native none of their code is there: all of it is looked for at once, and every thread told. */
  #missedCode(cids: readonly Cid[]): void {
    const { network, store } = this.#deps.view
    const code = network.manifests.flatMap(({ actors }) => [...actors.values()])
    if (this.#absentCode !== undefined || !cids.some((cid) => code.some((own) => own.equals(cid)))) return
    this.#absentCode = code.filter((cid) => !hasBlock(store.blocks, cid))
    for (const thread of this.#threads) thread.started = false
  }

  #answered(thread: Thread, message: Uint8Array): void {
    const job = thread.jobs.shift()
    if (job === undefined) return
    try {
      const answer = answerFromBytes(message)
      if (answer.ok) {
        this.#store(thread, answer.written)
        job.resolve(answer.result)
      } else {
        const error = thrownError(answer.error)
        if (error instanceof BlockMissing && !job.isCancelled) {
          this.#supply(thread, job, error)
          return
        }
        job.reject(error)
      }
    } catch (error) {
      job.reject(asError(error))
    }
    this.#next()
    if (thread.jobs.length === 0) this.#rest(thread)
  }

  /** A second one is started for what comes at once, a catch-up say, and nobody may ever need it again. */
  #rest(thread: Thread): void {
    const end = (): void => void (this.#threads.size > 1 && this.#end(thread))
    thread.stay()
    thread.stay = this.#deps.timers.setTimeout(end, IDLE_MS)
  }

  /** What cannot be stored ends the execution, as it does with an answer: its later blocks would stand on nothing. */
  async #takePart(thread: Thread, message: Uint8Array): Promise<void> {
    try {
      this.#store(thread, partFromBytes(message))
      await this.#deps.commit?.()
    } catch (error) {
      const left = this.#end(thread)
      for (const job of left) job.reject(asError(error))
      this.#next()
    }
  }

  #store(thread: Thread, written: readonly SentBlock[]): void {
    const { blocks } = this.#deps.view.store
    for (const [cid, data] of written) {
      blocks.put(cid, data)
      thread.sent.add(cid.key)
    }
  }

  /**
   * Asks the same again, with the blocks that were missing, or with the word that the chain lacks them too.
   * @throws BlockMissing when the thread was told so before
   */
  #supply(thread: Thread, job: Job, missing: BlockMissing): void {
    if (job.runs >= MAX_SUPPLIED_RUNS) {
      throw new IpldError('NO_PROGRESS', `Cannot execute: blocks were still missing after ${job.runs} runs`)
    }
    const store = this.#withHeaders(job.call.tipset)
    const here = missing.cids.filter((cid) => store.has(cid))
    if (here.length === 0) {
      if (missing.cids.every((cid) => job.absent.some((known) => known.equals(cid)))) throw missing
      job.absent.push(...missing.cids)
      this.#missedCode(missing.cids)
    }
    this.#ask(thread, job, supplyBlocks(store, here, thread.sent))
  }

  /**
   * A block that the running job misses, while it waits: to begin it again for each of thousands, as a tipset of mainnet's size reads of
   * a state that is elsewhere, took minutes. undefined: it ends, and what is still fetched then is there when it begins again.
   */
  #bring({ jobs: [job] }: Thread, cid: Cid): Promise<Uint8Array | undefined> {
    const edge = job === undefined || job.isCancelled ? undefined : this.fetched.edge(job.call.tipset)
    if (job === undefined || edge === undefined) return Promise.resolve(undefined)
    const { tipset } = job.call
    const isHeader = tipset.key.some((own) => own.equals(cid))
    const store = isHeader ? this.#withHeaders(tipset) : this.#deps.view.store.blocks
    const late = (): Error => new BlockMissing([cid])
    const brought = withTimeout(this.#deps.timers, QUICK_MS, late, () => edge(() => getBlock(store, cid), job.signal))
    return brought.catch(() => undefined)
  }

  #withHeaders(tipset: Tipset): Blockstore {
    const headers = new MemoryBlockstore()
    tipset.key.forEach((cid, i) => {
      headers.put(cid, encode(blockHeader, tipset.blocks[i] ?? firstBlock(tipset)))
    })
    return new LayeredBlockstore([headers, this.#deps.view.store.blocks])
  }
}

/** A call as a thread is told it. */
function told(call: VmCall, to: TellMessages): Pick<VmQuestion, 'call' | 'prior'> {
  const sent: ToldCall = { ...call, tipset: call.tipset.key }
  if (sent.method !== 'callWithGas' || sent.options.priorMessages.length === 0) return { call: sent, prior: null }
  const { priorMessages } = sent.options
  return { call: { ...sent, options: { ...sent.options, priorMessages: [] } }, prior: to.tell(priorMessages) }
}

function cancelled(): ChainError {
  return new ChainError('CANCELLED', 'Cannot execute: the request was cancelled')
}

function closed(): ChainError {
  return new ChainError('VM_CLOSED', 'Cannot execute: the machine is closed')
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new VmError('HOST_FAILED', String(error))
}
