/**
 * Tells many listeners of the same, each of all that comes after it began to listen, in order and in turns with other work: a head that
 * thousands hear of keeps nobody else waiting.
 *
 *   told of all --something comes--> behind --the turn of each--> told of all
 *   behind by more than MAX_UNTOLD --the turn of each--> closed
 */
import { MAX_UNTOLD } from '../base/bounds.ts'
import { errorMessage } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import { finish, type Steps } from '../base/steps.ts'
import type { CallContext } from './method.ts'

type Walking = Pick<CallContext, 'walk' | 'signal'>

/** Who is told: a channel, or a subscription. */
export interface Listener<T> {
  /** @returns what is left to do, in steps */
  value(value: T): Steps<void> | void
  /** It has missed something. */
  close(): void
}

/** What the listeners of one kind hear of. */
export interface TellingDeps<S, T> {
  /** Begins when there is a listener; returns what ends it. */
  listen(tell: (source: S) => void): () => void
  /** What they are told, made once for all of them; undefined: nothing. */
  make(source: S, call: Walking): T | undefined | Promise<T | undefined>
  readonly log?: Logger
}

/** Nobody ends it: it is for all who listen. */
const { signal: NEVER } = new AbortController()

/** See the file's head. */
export class Telling<S, T = S> {
  readonly #deps: TellingDeps<S, T>
  /** Each with the number of the first source that it hears of. */
  readonly #listeners = new Map<Listener<T>, number>()
  #untold: S[] = []
  /** Number of the first of them. */
  #first = 0
  /** Those who heard of nothing before this number have missed too much. */
  #missed = 0
  #isTelling = false
  #stop: (() => void) | undefined
  /** Of whoever came last. */
  #walk: Walking['walk'] = finish

  constructor(deps: TellingDeps<S, T>) {
    this.#deps = deps
  }

  /** @param walk - takes turns with other work @returns what ends it */
  on(listener: Listener<T>, { walk }: Pick<Walking, 'walk'>): () => void {
    this.#walk = walk
    this.#stop ??= this.#deps.listen((source) => this.#tell(source))
    this.#listeners.set(listener, this.#first + this.#untold.length)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#first += this.#untold.length
      this.#untold = []
      this.#stop?.()
      this.#stop = undefined
    }
  }

  #tell(source: S): void {
    if (this.#untold.length === MAX_UNTOLD) {
      this.#missed = this.#first += MAX_UNTOLD
      this.#untold = []
    }
    this.#untold.push(source)
    if (this.#isTelling) return
    this.#isTelling = true
    void this.#tellAll()
  }

  /** At once as far as the turn allows. */
  async #tellAll(): Promise<void> {
    while (this.#untold.length > 0) {
      const at = this.#first
      try {
        const made = this.#deps.make(this.#untold[0] as S, { walk: this.#walk, signal: NEVER })
        const value = made instanceof Promise ? await made : made
        const told = this.#walk(this.#each(value, at), NEVER)
        if (told instanceof Promise) await told
      } catch (error) {
        this.#deps.log?.warn('events left out', { message: errorMessage(error) })
      }
      // Unless it was dropped meanwhile.
      if (this.#first !== at) continue
      this.#untold.shift()
      this.#first++
    }
    this.#isTelling = false
  }

  *#each(value: T | undefined, at: number): Steps<void> {
    for (const [listener, from] of this.#listeners) {
      if (from < this.#missed) this.#close(listener)
      else if (from <= at && value !== undefined) yield* this.#one(listener, value)
      yield
    }
  }

  *#one(listener: Listener<T>, value: T): Steps<void> {
    try {
      const steps = listener.value(value)
      if (steps === undefined) return
      while (steps.next().done !== true) {
        yield
        if (!this.#listeners.has(listener)) return
      }
    } catch (error) {
      this.#deps.log?.error('a listener failed', { message: errorMessage(error) })
      this.#close(listener)
    }
  }

  #close(listener: Listener<T>): void {
    this.#listeners.delete(listener)
    listener.close()
  }
}
