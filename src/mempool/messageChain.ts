/**
 * Messages of one sender with consecutive nonces that are packed together. Later chains of the sender depend on earlier
 * ones. A chain pays at least as much per gas as the next one, so taking chains best first never takes a dependent one
 * before its parent on price alone.
 * @see lotus chain/messagepool/selection.go msgChain
 */
import { BLOCK_GAS_LIMIT } from '../types/protocol.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { gasReward } from './fees.ts'
import type { PooledMessage } from './pooledMessage.ts'
import { nearestNumber } from './ratio.ts'

/** Reward per block's worth of gas, attoFIL. */
export function gasPerformance(reward: TokenAmount, gasLimit: bigint): number {
  return nearestNumber(reward * BLOCK_GAS_LIMIT, gasLimit)
}

/** One run of messages of one sender. */
export class MessageChain {
  messages: readonly PooledMessage[]
  reward: TokenAmount
  gasLimit: bigint
  /** Reward per block of gas. */
  performance: number
  /** Performance weighted by the chance that our block is the one that executes it. */
  effectivePerformance = 0
  /** False once it was trimmed away or its parent cannot be included. */
  valid = true
  /** It is in the block already. */
  merged = false
  next: MessageChain | undefined = undefined
  previous: MessageChain | undefined = undefined
  /** Signature type of its first message: decides which list of the block it counts against. */
  readonly signatureType: number
  #blockProbability = 0
  #parentOffset = 0

  /** @param messages - one at least @param reward - of all of them */
  constructor(messages: readonly PooledMessage[], reward: TokenAmount, gasLimit: bigint, performance: number) {
    this.messages = messages
    this.reward = reward
    this.gasLimit = gasLimit
    this.performance = performance
    this.signatureType = messages[0]?.signed.signature.type ?? 0
  }

  /**
   * Cuts messages off its end until it fits and pays. Whatever follows is invalid then.
   * @param gasLimit - gas that is left
   * @param messageLimit - messages that are left
   */
  trim(gasLimit: bigint, messageLimit: number, baseFee: TokenAmount): void {
    let last = this.messages.length - 1
    while (last >= 0 && (this.gasLimit > gasLimit || this.performance < 0 || last >= messageLimit)) {
      const pooled = this.messages[last]
      if (pooled === undefined) break
      this.reward -= gasReward(pooled.message, baseFee)
      this.gasLimit -= pooled.message.gasLimit
      if (this.gasLimit > 0n) {
        this.performance = gasPerformance(this.reward, this.gasLimit)
        if (this.#blockProbability !== 0) this.updateEffectivePerformance()
      } else {
        this.performance = 0
        this.effectivePerformance = 0
      }
      last--
    }
    if (last < 0) {
      this.messages = []
      this.valid = false
    } else this.messages = this.messages.slice(0, last + 1)
    this.#dropNext()
  }

  /** It can never be included, nor what depends on it. */
  invalidate(): void {
    this.valid = false
    this.messages = []
    this.#dropNext()
  }

  setBlockProbability(probability: number): void {
    this.#blockProbability = probability
    this.updateEffectivePerformance()
  }

  /** Weighs its performance, averaged by gas with the parent that has to come along. */
  updateEffectivePerformance(): void {
    let effective = this.performance * this.#blockProbability
    const parent = this.previous
    if (effective > 0 && parent !== undefined) {
      const own = Number(this.gasLimit)
      const its = Number(parent.gasLimit)
      const together = (effective * own + parent.effectivePerformance * its) / Number(this.gasLimit + parent.gasLimit)
      this.#parentOffset = effective - together
      effective = together
    }
    this.effectivePerformance = effective
  }

  /** Its parent is in the block: it stands for itself now. */
  releaseFromParent(): void {
    this.effectivePerformance += this.#parentOffset
  }

  /** It is in none of the notional blocks. */
  clearEffectivePerformance(): void {
    this.effectivePerformance = Math.min(this.performance, 0)
  }

  #dropNext(): void {
    this.next?.invalidate()
    this.next = undefined
  }
}

/** Order by performance, then reward; best first. */
export function compareChains(a: MessageChain, b: MessageChain): number {
  if (a.performance !== b.performance) return a.performance > b.performance ? -1 : 1
  return compareRewards(a, b)
}

/**
 * Order by effective performance, best first: what is merged already, then what pays, then the weighted price.
 * Lotus writes it as alternatives, which is no order when a merged chain meets a better one; this is the same one made
 * lexical, so that a sort is well defined.
 * @see lotus chain/messagepool/selection.go BeforeEffective
 */
export function compareEffective(a: MessageChain, b: MessageChain): number {
  if (a.merged !== b.merged) return a.merged ? -1 : 1
  if (a.performance >= 0 !== b.performance >= 0) return a.performance >= 0 ? -1 : 1
  if (a.effectivePerformance !== b.effectivePerformance) return a.effectivePerformance > b.effectivePerformance ? -1 : 1
  return compareChains(a, b)
}

function compareRewards(a: MessageChain, b: MessageChain): number {
  return a.reward > b.reward ? -1 : a.reward < b.reward ? 1 : 0
}
