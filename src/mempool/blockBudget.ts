/**
 * The messages chosen for a block and what room is left in it.
 * @see lotus chain/messagepool/selection.go selectedMessages
 */
import { BLOCK_GAS_LIMIT, BLOCK_MESSAGE_LIMIT } from '../types/protocol.ts'
import type { TokenAmount } from '../types/scalars.ts'
import type { MessageChain } from './messageChain.ts'
import type { PooledMessage } from './pooledMessage.ts'
import { BLOCK_CLASS_LIMIT, MIN_GAS_WORTH_PACKING } from './rules.ts'

/** Signature type numbers of the wire. */
const SECP256K1 = 1
const BLS = 2
const DELEGATED = 3

/** Which list of a block a chain's messages go to. */
type SignatureClass = 'bls' | 'secp'

/** A block in the making. */
export class BlockBudget {
  readonly messages: PooledMessage[] = []
  gasLeft: bigint = BLOCK_GAS_LIMIT
  readonly #left: Record<SignatureClass, number> = { bls: BLOCK_CLASS_LIMIT, secp: BLOCK_CLASS_LIMIT }

  /** No message fits any more, or none is allowed. */
  get full(): boolean {
    return this.gasLeft < MIN_GAS_WORTH_PACKING || this.messages.length >= BLOCK_MESSAGE_LIMIT
  }

  /**
   * Takes a whole chain if it fits.
   * @returns whether it did; a chain of an unknown signature type is passed over and counts as taken
   */
  tryToAdd(chain: MessageChain): boolean {
    const count = chain.messages.length
    if (count + this.messages.length > BLOCK_MESSAGE_LIMIT || chain.gasLimit > this.gasLeft) return false
    const kind = signatureClass(chain)
    if (kind === undefined) return true
    if (count > this.#left[kind]) return false
    this.#take(chain)
    this.#left[kind] -= count
    this.gasLeft -= chain.gasLimit
    return true
  }

  /**
   * Takes a chain with every earlier chain of its sender that is not taken yet. If that does not fit, the chain is
   * trimmed to what fits, or invalidated when its parents alone do not.
   */
  tryToAddWithParents(chain: MessageChain, baseFee: TokenAmount): boolean {
    const kind = signatureClass(chain)
    if (kind === undefined) return false
    const parents: MessageChain[] = []
    let parentGas = 0n
    let parentMessages = 0
    for (let parent = chain.previous; parent !== undefined && !parent.merged; parent = parent.previous) {
      parents.push(parent)
      parentGas += parent.gasLimit
      parentMessages += parent.messages.length
    }
    const room = Math.min(this.#left[kind], BLOCK_MESSAGE_LIMIT - this.messages.length)
    const gas = parentGas + chain.gasLimit
    const count = parentMessages + chain.messages.length
    if (gas > this.gasLeft || count > room) {
      if (parentGas > this.gasLeft || parentMessages >= room) chain.invalidate()
      else chain.trim(this.gasLeft - parentGas, room - parentMessages, baseFee)
      return false
    }
    for (let i = parents.length - 1; i >= 0; i--) {
      const parent = parents[i]
      if (parent !== undefined) this.#take(parent)
    }
    this.#take(chain)
    this.gasLeft -= gas
    this.#left[kind] -= count
    return true
  }

  /** Cuts a chain down to what would fit; invalidates what depends on it. */
  trim(chain: MessageChain, baseFee: TokenAmount): void {
    const kind = signatureClass(chain)
    const free = BLOCK_MESSAGE_LIMIT - this.messages.length
    const room = kind === undefined ? free : Math.min(free, this.#left[kind])
    if (chain.gasLimit > this.gasLeft || chain.messages.length > room) chain.trim(this.gasLeft, room, baseFee)
  }

  #take(chain: MessageChain): void {
    chain.merged = true
    for (const message of chain.messages) this.messages.push(message)
  }
}

function signatureClass(chain: MessageChain): SignatureClass | undefined {
  if (chain.signatureType === BLS) return 'bls'
  return chain.signatureType === SECP256K1 || chain.signatureType === DELEGATED ? 'secp' : undefined
}
