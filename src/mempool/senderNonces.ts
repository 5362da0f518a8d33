/**
 * The nonce that the chain expects next of a sender: the actor's before the pool's tipset, raised by what the tipset
 * itself holds of that sender.
 * @see lotus chain/messagepool/messagepool.go getStateNonce
 */

import { Lru } from '../base/lru.ts'
import { type Address, isIdAddress } from '../types/address.ts'
import { type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { MempoolError } from './errors.ts'
import { STATE_NONCE_CACHE, STATE_NONCE_TIPSETS } from './limits.ts'
import type { ActorReader, MempoolChain } from './ports.ts'
import type { Senders } from './senders.ts'
import { actorNotFound } from './texts.ts'

/** What is known of one tipset. */
interface TipsetNonces {
  /** By sender as it is written: the nonce after the last message that the tipset holds. Read once, whoever asks. */
  readonly applied: ReadonlyMap<string, bigint>
  /** Of these, the senders that are written as an ID; whose key that is is looked up when it matters. */
  readonly ids: readonly Address[]
  readonly known: Lru<string, bigint>
}

/** Nonces by tipset and sender. */
export class SenderNonces {
  readonly #chain: MempoolChain
  readonly #senders: Senders
  readonly #prefix: 'f' | 't'
  readonly #tipsets = new Lru<string, TipsetNonces>(STATE_NONCE_TIPSETS)

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
    const ofTipset = this.#of(tipset)
    const known = ofTipset.known.get(sender.key)
    if (known !== undefined) return known
    const nonce = this.#compute(sender, tipset, ofTipset, after)
    ofTipset.known.set(sender.key, nonce)
    return nonce
  }

  #of(tipset: Tipset): TipsetNonces {
    const key = tipsetKeyText(tipset.key)
    let entry = this.#tipsets.get(key)
    if (entry === undefined) {
      entry = { ...this.#applied(tipset), known: new Lru(STATE_NONCE_CACHE) }
      this.#tipsets.set(key, entry)
    }
    return entry
  }

  #applied(tipset: Tipset): Pick<TipsetNonces, 'applied' | 'ids'> {
    const applied = new Map<string, bigint>()
    const ids: Address[] = []
    for (const { message } of this.#chain.tipsetMessages(tipset)) {
      const { from, nonce } = message
      const before = applied.get(from.key)
      if (before === undefined && isIdAddress(from)) ids.push(from)
      if (before === undefined || nonce >= before) applied.set(from.key, nonce + 1n)
    }
    return { applied, ids }
  }

  #compute(sender: Address, tipset: Tipset, { applied, ids }: TipsetNonces, after: ActorReader | undefined): bigint {
    const actor = this.#chain.stateBefore(tipset).actor(sender)
    if (actor === undefined) {
      const created = after?.actor(sender)
      if (created !== undefined) return created.nonce
      throw new MempoolError('SENDER_UNKNOWN', actorNotFound(sender, this.#prefix))
    }
    const resolved = this.#senders.resolve(sender, tipset)
    let next = actor.nonce
    const see = (nonce: bigint | undefined): void => {
      if (nonce !== undefined && nonce > next) next = nonce
    }
    see(applied.get(resolved.key))
    for (const id of ids) {
      const nonce = applied.get(id.key) ?? 0n
      if (nonce > next && this.#senders.tryResolve(id, tipset)?.equals(resolved) === true) see(nonce)
    }
    return next
  }
}
