/** Turns the senders of messages into the key addresses that the pool files them under. */

import { unlessThrown } from '../base/errors.ts'
import { Lru } from '../base/lru.ts'
import { type Address, isIdAddress } from '../types/address.ts'
import type { Tipset } from '../types/tipset.ts'
import { MempoolError } from './errors.ts'
import { KEY_ADDRESS_CACHE } from './limits.ts'
import type { MempoolChain } from './ports.ts'

/** Resolves and remembers f0 senders. What is 900 epochs old does not change any more. */
export class Senders {
  readonly #chain: Pick<MempoolChain, 'keyAddressAtFinality'>
  readonly #known = new Lru<string, Address>(KEY_ADDRESS_CACHE)

  constructor(chain: Pick<MempoolChain, 'keyAddressAtFinality'>) {
    this.#chain = chain
  }

  /**
   * @param tipset - the pool's tipset
   * @throws what the chain throws for an f0 address that has no key or is younger than finality
   */
  resolve(address: Address, tipset: Tipset): Address {
    if (!isIdAddress(address)) return address
    const known = this.#known.get(address.key)
    if (known !== undefined) return known
    const key = this.#chain.keyAddressAtFinality(address, tipset)
    this.#known.set(address.key, key)
    return key
  }

  /** The same, undefined when there is no such sender: for messages that are on chain anyway. @throws BlockMissing */
  tryResolve(address: Address, tipset: Tipset): Address | undefined {
    return unlessThrown(() => this.resolve(address, tipset), MempoolError)
  }
}
