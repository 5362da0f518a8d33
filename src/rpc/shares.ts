/** Shares that callers have in something bounded: each in so much, all together in so much. */
import type { CallerName } from './cost.ts'
import type { RpcError } from './errors.ts'

/** Most of one thing, in whatever it is counted. */
export interface ShareLimits {
  readonly all: number
  /** Of all callers without a token. Default: of all. */
  readonly withoutToken?: number
  readonly perToken: number
  readonly perAddress: number
}

/** Counted by caller whatever its connections are, as calls that wait are (cost.ts). */
export class Shares {
  readonly #limits: ShareLimits
  readonly #tooMuch: (who: string, most: number) => RpcError
  readonly #ofCaller = new Map<string, number>()
  #all = 0
  #withoutToken = 0

  /** @param tooMuch - what is thrown to whom; `who` is `a token`, say */
  constructor(limits: ShareLimits, tooMuch: (who: string, most: number) => RpcError) {
    this.#limits = limits
    this.#tooMuch = tooMuch
  }

  /**
   * Counts so much more.
   * @returns gives it back, once
   * @throws what there is to say when it is too much
   */
  take(caller: CallerName, amount = 1): () => void {
    const { all, withoutToken = all, perToken, perAddress } = this.#limits
    const { name, hasToken } = caller
    const mine = (this.#ofCaller.get(name) ?? 0) + amount
    const most = hasToken ? perToken : perAddress
    if (mine > most) throw this.#tooMuch(hasToken ? 'a token' : 'an address without a token', most)
    if (!hasToken && this.#withoutToken + amount > withoutToken) {
      throw this.#tooMuch('all callers without a token', withoutToken)
    }
    if (this.#all + amount > all) throw this.#tooMuch('all callers', all)
    this.#add(caller, amount)
    let isTaken = true
    return () => {
      if (isTaken) this.#add(caller, -amount)
      isTaken = false
    }
  }

  #add({ name, hasToken }: CallerName, by: number): void {
    this.#all += by
    if (!hasToken) this.#withoutToken += by
    const mine = (this.#ofCaller.get(name) ?? 0) + by
    if (mine === 0) this.#ofCaller.delete(name)
    else this.#ofCaller.set(name, mine)
  }
}
