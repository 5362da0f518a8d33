/**
 * A cheap call and its deadline. Most such calls have ended before anybody asks how they would be told to: one that answers at once costs
 * no timer, and one that asks for no signal makes none.
 */
import { CHEAP_DEADLINE_MS } from '../base/bounds.ts'
import type { InPlace, Steps } from '../base/steps.ts'
import { whenAborted } from '../base/waiting.ts'
import type { JsonContext } from '../codec/description.ts'
import type { CallerName, CostQueues } from './cost.ts'
import { tooLate } from './errors.ts'
import type { ApiVersion, CallContext } from './method.ts'

/** Who asks. */
type Asker = Omit<CallContext, 'json' | 'walk' | 'scan' | 'execute' | 'edge' | 'wants'> & { readonly name: CallerName }

/** What its handler knows of it. A class, not an object with a getter: that took four microseconds. */
export class CheapCall implements CallContext {
  readonly version: ApiVersion
  readonly permissions: ReadonlySet<string>
  readonly name: CallerName
  readonly json: JsonContext
  readonly ended: AbortSignal
  readonly notify: CallContext['notify']
  readonly subscribed?: () => () => void
  readonly wants: (bytes: number) => () => void
  readonly disconnect?: (reason: string) => void
  readonly walk: <T>(steps: Steps<T>, signal?: AbortSignal) => T | Promise<T>
  readonly scan: InPlace
  readonly execute: InPlace
  readonly #caller: AbortSignal
  readonly #queues: CostQueues
  #controller: AbortController | undefined
  #stopListening: (() => void) | undefined
  #isOver = false
  #isLate = false

  constructor(caller: Asker, json: JsonContext, queues: CostQueues, wants: (bytes: number) => () => void) {
    const { name, subscribed, disconnect } = caller
    this.version = caller.version
    this.permissions = caller.permissions
    this.name = name
    this.json = json
    this.ended = caller.ended
    this.notify = caller.notify
    this.wants = wants
    if (subscribed !== undefined) this.subscribed = subscribed
    if (disconnect !== undefined) this.disconnect = disconnect
    this.walk = (steps, own) => queues.walk(steps, own ?? this)
    this.scan = (task) => queues.run('scan', name, this.signal, task)
    this.execute = (task) => queues.run('execute', name, this.signal, task)
    this.#caller = caller.signal
    this.#queues = queues
  }

  /** Whether the {@link signal} is aborted, or would be. */
  get aborted(): boolean {
    return this.#isLate || this.#caller.aborted
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal
    if (this.#isOver) return this.#caller
    const controller = new AbortController()
    this.#controller = controller
    this.#stopListening = whenAborted(this.#caller, () => controller.abort(this.#caller.reason))
    return controller.signal
  }

  /** Its result, which it has or waits for. @throws RpcError `TIMED_OUT`, as a rejection */
  inTime<T>(result: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => {
        const error = tooLate(CHEAP_DEADLINE_MS)
        this.#isLate = true
        reject(error)
        this.#controller?.abort(error)
        this.end()
      }
      const stop = this.#queues.timers.setTimeout(late, CHEAP_DEADLINE_MS)
      const end = (): void => {
        stop()
        this.end()
      }
      result.then(
        (value) => {
          end()
          resolve(value)
        },
        (error: unknown) => {
          end()
          reject(error as Error)
        },
      )
    })
  }

  /** It has ended. */
  end(): void {
    this.#isOver = true
    this.#stopListening?.()
  }
}
