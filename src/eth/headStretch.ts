/** A part of the head's chain without gaps, from some head down, that grows as it is searched. */
import type { Steps } from '../base/steps.ts'
import type { ChainStore } from '../chain/chainStore.ts'
import type { Tipset, TipsetKey } from '../types/tipset.ts'

/** What a {@link HeadStretch} is made of. */
export interface HeadStretchDeps {
  readonly store: Pick<ChainStore, 'head' | 'parent' | 'tipset'>
  /** A number for each tipset. */
  readonly placeOf: (tipset: Tipset) => number
  /** Takes a tipset in; throws before it has changed anything. */
  readonly take: (tipset: Tipset) => void
  /** Whether what was thrown at a tipset, or below it, is the end of what can be searched rather than a failure. */
  readonly isEnd: (error: unknown, tipset: Tipset) => boolean
  readonly hasRoom: () => boolean
  /** Tipsets that the head may have gained since the last search. */
  readonly most: number
}

/** What is in it has no gap at any time: a search may be given up, and several may walk at once. */
export class HeadStretch {
  readonly #deps: HeadStretchDeps
  /** Places of its tipsets. */
  readonly #places = new Set<number>()
  #lowest: Tipset | undefined

  constructor(deps: HeadStretchDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#places.size
  }

  /** Asks, after each tipset that is added: first those above what is in it, then below. */
  *search<T>(find: () => T | undefined): Steps<T | undefined> {
    yield* this.#addAbove()
    let found = find()
    while (found === undefined && this.#deps.hasRoom() && this.#addBelow()) {
      found = find()
      yield
    }
    // Another search may have gone down to the end meanwhile.
    return found ?? find()
  }

  clear(): void {
    this.#places.clear()
    this.#lowest = undefined
  }

  /** What the head has gained, lowest first. */
  *#addAbove(): Steps<void> {
    const { store, placeOf, most } = this.#deps
    if (this.#lowest === undefined && !this.#begin()) return
    const above: TipsetKey[] = []
    for (let tipset = store.head(); !this.#places.has(placeOf(tipset)); tipset = store.parent(tipset)) {
      above.push(tipset.key)
      if (tipset.height === 0 || above.length > most) break
      yield
    }
    for (const key of above.reverse()) {
      const tipset = store.tipset(key)
      // What cannot be searched lies between what was and what can be: it is passed over.
      if (!this.#unlessEnd(tipset, () => this.#add(tipset))) this.#keep(tipset)
      yield
    }
  }

  #begin(): boolean {
    const head = this.#deps.store.head()
    return this.#unlessEnd(head, () => this.#add(head))
  }

  /** @returns false: there is nothing below that can be searched */
  #addBelow(): boolean {
    const lowest = this.#lowest
    if (lowest === undefined || lowest.height === 0) return false
    return this.#unlessEnd(lowest, () => this.#add(this.#deps.store.parent(lowest)))
  }

  #unlessEnd(tipset: Tipset, add: () => void): boolean {
    try {
      add()
      return true
    } catch (error) {
      if (this.#deps.isEnd(error, tipset)) return false
      throw error
    }
  }

  #add(tipset: Tipset): void {
    if (!this.#places.has(this.#deps.placeOf(tipset))) this.#deps.take(tipset)
    this.#keep(tipset)
  }

  #keep(tipset: Tipset): void {
    this.#places.add(this.#deps.placeOf(tipset))
    if (this.#lowest === undefined || tipset.height < this.#lowest.height) this.#lowest = tipset
  }
}
