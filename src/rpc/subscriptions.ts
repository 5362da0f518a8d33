/** Channels and subscriptions that are open, counted by caller whatever its connections are, as calls that wait are (cost.ts). */
import { SUBSCRIPTION_LIMITS } from '../base/bounds.ts'
import type { CallerName } from './cost.ts'
import { RpcError } from './errors.ts'

/** Of one server. */
export class Subscriptions {
  readonly #ofCaller = new Map<string, number>()
  #count = 0

  /**
   * Counts one more.
   * @returns gives it back
   * @throws RpcError `LIMIT_EXCEEDED`
   */
  open({ name, hasToken }: CallerName): () => void {
    const { all, perToken, perAddress } = SUBSCRIPTION_LIMITS
    const mine = this.#ofCaller.get(name) ?? 0
    const most = hasToken ? perToken : perAddress
    if (mine >= most) throw tooMany(hasToken ? 'a token' : 'an address without a token', most)
    if (this.#count >= all) throw tooMany('all callers', all)
    this.#add(name, 1)
    let isOpen = true
    return () => {
      if (isOpen) this.#add(name, -1)
      isOpen = false
    }
  }

  #add(name: string, by: number): void {
    this.#count += by
    const mine = (this.#ofCaller.get(name) ?? 0) + by
    if (mine === 0) this.#ofCaller.delete(name)
    else this.#ofCaller.set(name, mine)
  }
}

function tooMany(who: string, most: number): RpcError {
  const text = `too many channels and subscriptions: ${who} may have ${most}; try again later`
  return new RpcError('LIMIT_EXCEEDED', text, { info: { most } })
}
