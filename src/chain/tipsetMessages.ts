/**
 * The messages of a tipset that are executed, in order: per block BLS then signed, each sender's nonces without a gap.
 * @see lotus chain/store/messages.go BlockMsgsForTipset
 */
import type { Address } from '../types/address.ts'
import { isIdAddress } from '../types/address.ts'
import { blsChainMessage, type ChainMessage, signedChainMessage } from '../types/chainMessage.ts'
import type { Message } from '../types/message.ts'
import type { ChainEpoch, Nonce } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import type { BlockMessages } from './blockMessages.ts'

/** The executed messages of one block. */
export interface SelectedMessages {
  readonly bls: readonly ChainMessage[]
  readonly signed: readonly ChainMessage[]
}

/** The ID address of an address in the tipset's parent state. Throws when there is none. */
export type ResolveId = (address: Address) => Address

/**
 * Decides message by message. A sender is known by the address as written until an ID address turns up as sender;
 * from then on by IDs, and what was counted before is carried over.
 */
class Selection {
  readonly #resolve: ResolveId
  readonly #resolvesIds: boolean
  #useIds = false
  /** Next nonce and address by sender. */
  readonly #next = new Map<string, { readonly sender: Address; readonly nonce: Nonce }>()

  constructor(resolve: ResolveId, resolvesIds: boolean) {
    this.#resolve = resolve
    this.#resolvesIds = resolvesIds
  }

  /** True when the message is executed. */
  take(message: Message): boolean {
    const sender = this.#sender(message.from)
    const expected = this.#next.get(sender.key)?.nonce ?? message.nonce
    // The first message of a sender has the right nonce, or its block would not be valid.
    const taken = expected === message.nonce
    this.#next.set(sender.key, { sender, nonce: taken ? expected + 1n : expected })
    return taken
  }

  #sender(from: Address): Address {
    if (!this.#resolvesIds) return from
    if (!this.#useIds) {
      if (!isIdAddress(from)) return from
      this.#useIds = true
      for (const { sender, nonce } of [...this.#next.values()]) {
        const resolved = this.#resolve(sender)
        this.#next.set(resolved.key, { sender: resolved, nonce })
      }
    }
    return this.#resolve(from)
  }
}

/**
 * Selects the executed messages of a tipset.
 * @param messages - of each block, in tipset order
 * @param hyperdrive - height of the Hyperdrive upgrade, from which IDs are resolved
 * @returns one entry per block
 */
export function selectMessages(
  tipset: Tipset,
  messages: readonly BlockMessages[],
  resolve: ResolveId,
  hyperdrive: ChainEpoch,
): SelectedMessages[] {
  const selection = new Selection(resolve, tipset.height >= hyperdrive)
  return messages.map(({ bls, signed }) => ({
    bls: bls.filter((message) => selection.take(message)).map(blsChainMessage),
    signed: signed.filter((signedMessage) => selection.take(signedMessage.message)).map(signedChainMessage),
  }))
}

/** All selected messages in execution order. */
export function inExecutionOrder(selected: readonly SelectedMessages[]): ChainMessage[] {
  return selected.flatMap(({ bls, signed }) => [...bls, ...signed])
}
