/**
 * What calls cost the node, by kind, and the queue of each kind.
 *
 *   waiting (callers take turns) --a place is free--> running --> done
 *   waiting or running --the caller goes, or the deadline passes--> refused
 *   running --a part of the answer is handed over--> paused, without a place
 *   paused --the client has taken the part--> waiting before its caller's others, which is not counted, then running for as much
 *     longer as a part may take
 *
 * What they do on the event loop is done in short turns, so that a cheap call never waits for a row of dear ones.
 */
import { COST_LIMITS, DEAR_TURN_MS, PART_MS, REFUSAL_MS } from '../base/bounds.ts'
import { Breather } from '../base/breather.ts'
import type { Clock, Timers } from '../base/ports.ts'
import type { Steps } from '../base/steps.ts'
import { sleep, whenAborted } from '../base/waiting.ts'
import { type CallCounts, OwnCalls } from './callCounts.ts'
import { RpcError, tooLate } from './errors.ts'

/**
 * `cheap`: a few reads; `scan`: reads much of a state or of the chain; `execute`: runs the machine; `stream`: sends for as long as the
 * client reads; `sign`: keys and signatures; `wait`: for something to come, which takes no time of the node's and a little memory.
 */
export type CostClass = 'cheap' | DearClass
/** Those that queue. */
export type DearClass = keyof typeof COST_LIMITS

/** Bounds of one kind. */
export interface CostLimit {
  /** Calls at once. */
  readonly running: number
  /** Of them of one caller: another's call finds a place, or waits for few. */
  readonly runningOfCaller: number
  /** Of them of callers without a token: the places beyond are kept for those with one. */
  readonly runningWithoutToken: number
  /** Calls that wait: of all callers together. */
  readonly waiting: number
  /** Calls of one token, waiting or running. */
  readonly perToken: number
  /** Calls of one address without a token. */
  readonly perAddress: number
  /**
   * From the request to the answer, milliseconds, and {@link PART_MS} more for each part that the client took, without what its call then
   * waited for others; 0: as long as it takes.
   */
  readonly deadlineMs: number
}

/** A call's place among those that run. Who reads slowly keeps none meanwhile. */
export interface Place {
  /** A part of the answer was handed over; nothing is done until the client has taken it. */
  leave(): void
  /** Its turn to be sent is not yet, which does not count in its deadline. @returns says that it is */
  waits(): () => void
  /**
   * The client has taken it, or there was nothing to take: the call goes on.
   * @throws RpcError `TIMED_OUT`, `CANCELLED`
   */
  enter(): Promise<void> | undefined
}

/** Carries a call out; has its place until it has ended. */
type Task<T> = (signal: AbortSignal, place: Place) => Promise<T>

/** Whose call it is: a token, or an address. */
export interface CallerName {
  readonly name: string
  readonly hasToken: boolean
}

interface Waiting {
  readonly caller: CallerName
  start(): void
}

/** Seconds after which it is worth to try again. */
export const RETRY_AFTER_SEC = 1

/** The deadline of an answer in parts. */
interface PartClock {
  /** The client has taken a part. */
  taken(): void
  /** The call waits for a place, which is no fault of its client's. @returns says that it has one */
  waits(): () => void
}

/** What queues take the time by. */
interface Ports {
  readonly clock: Clock
  readonly timers: Timers
}

/** The queue of one kind. */
class CostQueue {
  readonly #cost: DearClass
  readonly #limit: CostLimit
  readonly #ports: Ports
  /** By caller; whose turn comes next is first. */
  readonly #waiting = new Map<string, Waiting[]>()
  #waitingCount = 0
  #running = 0
  readonly #counts: CallCounts

  constructor(cost: DearClass, limit: CostLimit, ports: Ports, counts: CallCounts = new OwnCalls()) {
    this.#cost = cost
    this.#limit = limit
    this.#ports = ports
    this.#counts = counts
  }

  get load(): { readonly waiting: number; readonly running: number } {
    return { waiting: this.#waitingCount, running: this.#running }
  }

  /** @throws RpcError `LIMIT_EXCEEDED` at once, before there is a promise; later `TIMED_OUT`, `CANCELLED` */
  run<T>(caller: CallerName, signal: AbortSignal, task: Task<T>): Promise<T> {
    this.#assertRoom(caller)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const ended = new AbortController()
    const end = (error: RpcError): void => {
      if (this.#drop(waiting)) this.#left(caller)
      ended.abort(error)
      reject(error)
    }
    const gone = (): void => end(new RpcError('CANCELLED', 'the caller has gone'))
    const { deadlineMs } = this.#limit
    const late = (): void => end(tooLate(deadlineMs))
    let until = this.#ports.clock.monotonicMs() + deadlineMs
    let stopClock = deadlineMs === 0 ? () => undefined : this.#ports.timers.setTimeout(late, deadlineMs)
    let isOver = false
    const hasClock = (): boolean => deadlineMs > 0 && !isOver && !ended.signal.aborted
    const moveDeadline = (to: number, now: number): void => {
      until = to
      stopClock()
      stopClock = this.#ports.timers.setTimeout(late, until - now)
    }
    const part: PartClock = {
      taken: () => {
        const now = this.#ports.clock.monotonicMs()
        if (hasClock()) moveDeadline(Math.min(until + PART_MS, now + deadlineMs), now)
      },
      waits: () => {
        const since = this.#ports.clock.monotonicMs()
        stopClock()
        return () => {
          const now = this.#ports.clock.monotonicMs()
          if (hasClock()) moveDeadline(until + now - since, now)
        }
      },
    }
    const waiting: Waiting = {
      caller,
      start: () => {
        const place = this.#placeOf(caller, ended.signal, part)
        // It stays taken while work is done, whoever has stopped waiting for it.
        void task(ended.signal, place)
          .then(resolve, reject)
          .finally(() => {
            this.#left(caller)
            place.leave()
          })
      },
    }
    this.#counts.ofCaller(caller.name).add(1)
    this.#push(waiting)
    const stopListening = whenAborted(signal, gone)
    if (!signal.aborted) this.#next()
    return promise.finally(() => {
      isOver = true
      stopClock()
      stopListening()
    })
  }

  #placeOf(caller: CallerName, signal: AbortSignal, { taken, waits }: PartClock): Place {
    let isHeld = false
    const hold = (): void => {
      isHeld = true
      this.#runs(caller, 1)
    }
    hold()
    return {
      waits,
      leave: () => {
        if (!isHeld) return
        isHeld = false
        this.#runs(caller, -1)
        this.#next()
      },
      enter: () => {
        taken()
        if (isHeld) return undefined
        signal.throwIfAborted()
        if (!this.#mayRun(caller)) {
          const goOn = waits()
          return this.#resumes(caller, signal, () => {
            hold()
            goOn()
          })
        }
        hold()
        return undefined
      },
    }
  }

  #resumes(caller: CallerName, signal: AbortSignal, hold: () => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = {
      caller,
      start: () => {
        stopListening()
        hold()
        resolve()
      },
    }
    const stopListening = whenAborted(signal, () => {
      this.#drop(waiting)
      reject(signal.reason)
    })
    this.#push(waiting, { first: true })
    return promise
  }

  #assertRoom(caller: CallerName): void {
    const { waiting, perToken, perAddress } = this.#limit
    const most = caller.hasToken ? perToken : perAddress
    if (this.#counts.ofCaller(caller.name).total() >= most)
      throw this.#tooMany(caller.hasToken ? 'a token' : 'an address without a token', most)
    if (this.#counts.waiting.total() >= waiting && !this.#mayRun(caller)) throw this.#tooMany('all callers', waiting)
  }

  #tooMany(what: string, most: number): RpcError {
    this.#counts.refused.add(1)
    const text = `too many calls at once: ${what} may have ${most} of the kind "${this.#cost}"; try again later`
    return new RpcError('LIMIT_EXCEEDED', text, { info: { cost: this.#cost, most } })
  }

  /** The first call of each queue has a place kept for it: nobody tells one queue when a place of another's becomes free. */
  #hasPlace(): boolean {
    return this.#running === 0 || this.#counts.running.total() < this.#limit.running - this.#counts.idle()
  }

  #mayRun({ name, hasToken }: CallerName): boolean {
    const { runningOfCaller, runningWithoutToken } = this.#limit
    if (this.#running === 0) return true
    if (!this.#hasPlace() || this.#counts.runningOfCaller(name).total() >= runningOfCaller) return false
    return hasToken || this.#counts.runningWithoutToken.total() < runningWithoutToken
  }

  #runs({ name, hasToken }: CallerName, by: number): void {
    this.#running += by
    this.#counts.running.add(by)
    this.#counts.runningOfCaller(name).add(by)
    if (!hasToken) this.#counts.runningWithoutToken.add(by)
  }

  #waits(by: number): void {
    this.#waitingCount += by
    this.#counts.waiting.add(by)
  }

  #left(caller: CallerName): void {
    this.#counts.ofCaller(caller.name).add(-1)
  }

  /** @param first - before its caller's others */
  #push(waiter: Waiting, { first = false }: { readonly first?: boolean } = {}): void {
    const mine = this.#waiting.get(waiter.caller.name)
    if (mine === undefined) this.#waiting.set(waiter.caller.name, [waiter])
    else if (first) mine.unshift(waiter)
    else mine.push(waiter)
    this.#waits(1)
  }

  /** @returns whether it was waiting */
  #drop(waiter: Waiting): boolean {
    const mine = this.#waiting.get(waiter.caller.name)
    const at = mine?.indexOf(waiter) ?? -1
    if (mine === undefined || at < 0) return false
    mine.splice(at, 1)
    if (mine.length === 0) this.#waiting.delete(waiter.caller.name)
    this.#waits(-1)
    return true
  }

  #next(): void {
    for (;;) {
      const waiter = this.#firstThatMay()
      if (waiter === undefined) return
      const { name } = waiter.caller
      const mine = this.#waiting.get(name) as Waiting[]
      mine.shift()
      this.#waits(-1)
      // The others have their turn before this caller's next one.
      this.#waiting.delete(name)
      if (mine.length > 0) this.#waiting.set(name, mine)
      waiter.start()
    }
  }

  /** In the order of turns; who may have no more at once is passed by. */
  #firstThatMay(): Waiting | undefined {
    if (!this.#hasPlace()) return undefined
    for (const [first] of this.#waiting.values()) if (this.#mayRun((first as Waiting).caller)) return first
    return undefined
  }
}

/** The queues of all kinds: one per thread that answers, which share `counts`. */
export class CostQueues {
  readonly #queues: Readonly<Record<DearClass, CostQueue>>
  readonly #turns: Breather
  /** Of frames, which are many and cheap: dear calls do not wait for all of them. */
  readonly #frameTurns: Breather
  readonly #ports: Ports

  constructor(
    ports: Ports,
    limits: Readonly<Record<DearClass, CostLimit>> = COST_LIMITS,
    counts: (cost: DearClass) => CallCounts | undefined = () => undefined,
  ) {
    const queue = (cost: DearClass): CostQueue => new CostQueue(cost, limits[cost], ports, counts(cost))
    this.#queues = {
      ...{ scan: queue('scan'), execute: queue('execute'), stream: queue('stream') },
      ...{ sign: queue('sign'), wait: queue('wait') },
    }
    this.#turns = new Breather(ports, DEAR_TURN_MS)
    this.#frameTurns = new Breather(ports, DEAR_TURN_MS)
    this.#ports = ports
  }

  /** Calls that wait and that run. */
  load(cost: DearClass): { readonly waiting: number; readonly running: number } {
    return this.#queues[cost].load
  }

  /**
   * What is refused for being one too many, a little later: who asks again at once would have nothing but refusals made, which take as
   * long as answers. Of 320 short scans that one client had under way, 730 in a second were answered, where of 120 it was 15,000.
   */
  async refusedLater<T extends { readonly kind: string }>(outcome: Promise<T>): Promise<T> {
    if ((await outcome).kind === 'busy') await sleep(this.#ports.timers, REFUSAL_MS)
    return outcome
  }

  /** Work on the event loop, when it is its turn: what it does before it first waits is what counts. */
  turn<T>(part: () => Promise<T>): Promise<T> {
    return this.#turns.run(part)
  }

  /**
   * Takes a walk to its end in turns; its first stretch at once where others have not waited for long already.
   * @param signal - aborted when nobody waits for it any more
   * @throws RpcError `CANCELLED`; what the walk throws
   */
  walk<T>(steps: Steps<T>, signal: Pick<AbortSignal, 'aborted'>): T | Promise<T> {
    return this.#walk(this.#turns, steps, signal)
  }

  /** The same for frames that came together, each a step: in turns of their own. */
  takeFrames(steps: Steps<void>): void | Promise<void> {
    return this.#walk(this.#frameTurns, steps, undefined)
  }

  #walk<T>(turns: Breather, steps: Steps<T>, signal: Pick<AbortSignal, 'aborted'> | undefined): T | Promise<T> {
    const check = (): void => {
      if (signal?.aborted === true) throw new RpcError('CANCELLED', 'the caller has gone')
    }
    if (turns.isSpent) return turns.walk(steps, check)
    const began = this.#ports.clock.monotonicMs()
    const first = turns.stretch(steps, check)
    turns.spend(this.#ports.clock.monotonicMs() - began)
    return first.done === true ? first.value : turns.walk(steps, check)
  }

  /** What deadlines run by. */
  get timers(): Timers {
    return this.#ports.timers
  }

  /**
   * Carries a call out when it has a place.
   * @param task - is told to stop by its signal; begins in a turn of its own
   * @throws RpcError `LIMIT_EXCEEDED` at once; `TIMED_OUT`; `CANCELLED`; what the task throws
   */
  run<T>(cost: DearClass, caller: CallerName, signal: AbortSignal, task: Task<T>): Promise<T> {
    return this.#queues[cost].run(caller, signal, (ended, place) =>
      this.turn(async () => {
        const began = this.#ports.clock.monotonicMs()
        try {
          return await task(ended, place)
        } finally {
          // Also what it did after it first waited: a row of signatures, each behind an await, would be one long turn.
          this.#turns.spend(this.#ports.clock.monotonicMs() - began)
        }
      }),
    )
  }
}
