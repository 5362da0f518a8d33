/**
 * The nonce that the chain expects next of a sender: the actor's before the pool's tipset, raised by what the tipset
 * itself holds of that sender.
 * @see lotus chain/messagepool/messagepool.go getStateNonce
 */

import { Lru } from '../base/lru.ts'
import type { Address } from '../types/address.ts'
import { type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { MempoolError } from './errors.ts'
import { STATE_NONCE_CACHE } from './limits.ts'
import type { ActorReader, MempoolChain } from './ports.ts'
import type { Senders } from './senders.ts'
import { actorNotFound } from './texts.ts'

/** Nonces by tipset and sender. */
export class SenderNonces {
  readonly #chain: MempoolChain
  readonly #senders: Senders
  readonly #prefix: 'f' | 't'
  readonly #known = new Lru<string, bigint>(STATE_NONCE_CACHE)

  constructor(chain: MempoolChain, senders: Senders, prefix: 'f' | 't') {
    this.#chain = chain
    this.#senders = senders
    this.#prefix = prefix
  }

  /**
   * @param after - the state after the tipset, if at hand: then a sender that the tipset created counts too (Lotus
   * waits one more epoch, which on a chain that mines on demand would be for ever)
   * @throws {@link MempoolError} `SENDER_UNKNOWN` when there is no such actor
   */
  next(sender: Address, tipset: Tipset, after?: ActorReader): bigint {
    const key = tipsetKeyText(tipset.key) + sender.key
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const nonce = this.#compute(sender, tipset, after)
    this.#known.set(key, nonce)
    return nonce
  }

  #compute(sender: Address, tipset: Tipset, after: ActorReader | undefined): bigint {
    const actor = this.#chain.stateBefore(tipset).actor(sender)
    if (actor === undefined) {
      const created = after?.actor(sender)
      if (created !== undefined) return created.nonce
      throw new MempoolError('SENDER_UNKNOWN', actorNotFound(sender, this.#prefix))
    }
    const resolved = this.#senders.resolve(sender, tipset)
    let next = actor.nonce
    for (const { message } of this.#chain.tipsetMessages(tipset)) {
      if (message.nonce < next) continue
      if (this.#senders.tryResolve(message.from, tipset)?.equals(resolved) === true) next = message.nonce + 1n
    }
    return next
  }
}
