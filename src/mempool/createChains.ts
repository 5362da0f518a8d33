/**
 * Cuts the pending messages of a sender into chains: first runs of non-falling price per gas, then merged until each
 * chain pays more per gas than the one after it.
 * @see lotus chain/messagepool/selection.go createMessageChains
 */
import type { ActorState } from '../types/actor.ts'
import { BLOCK_GAS_LIMIT, BLOCK_MESSAGE_LIMIT } from '../types/protocol.ts'
import type { ChainEpoch, TokenAmount } from '../types/scalars.ts'
import { gasReward } from './fees.ts'
import { gasPerformance, MessageChain } from './messageChain.ts'
import type { MinimumGas } from './minimumGas.ts'
import type { PooledMessage } from './pooledMessage.ts'

/** What the candidates of one sender are measured against. */
export interface ChainConditions {
  /** The sender after the tipset that the block builds on; undefined: it does not exist. */
  readonly actor: ActorState | undefined
  readonly baseFee: TokenAmount
  /** Epoch of that tipset: prices of message bytes go by it. */
  readonly epoch: ChainEpoch
  readonly minimumGas: MinimumGas
}

/**
 * @param messages - one sender's, by ascending nonce
 * @returns linked chains in nonce order; none when the next message cannot be included
 */
export function createChains(messages: readonly PooledMessage[], conditions: ChainConditions): MessageChain[] {
  const candidates = selectIncludable(messages, conditions)
  const chains = mergeChains(firstPass(candidates, conditions.baseFee))
  for (let i = 0; i < chains.length; i++) {
    const chain = chains[i]
    if (chain === undefined) continue
    chain.previous = chains[i - 1]
    chain.next = chains[i + 1]
  }
  return chains
}

/** Consecutive from the sender's nonce, with enough gas each, within one block of gas and the sender's balance. */
function selectIncludable(messages: readonly PooledMessage[], conditions: ChainConditions): PooledMessage[] {
  const { actor, epoch, minimumGas } = conditions
  if (actor === undefined) return []
  const result: PooledMessage[] = []
  let nonce = actor.nonce
  let balance = actor.balance
  let gas = 0n
  for (const pooled of messages) {
    const { message } = pooled
    if (message.nonce < nonce) continue
    if (message.nonce !== nonce || result.length === BLOCK_MESSAGE_LIMIT) break
    nonce++
    if (message.gasLimit < minimumGas.total(epoch, pooled.chainLengthBytes)) break
    gas += message.gasLimit
    if (gas > BLOCK_GAS_LIMIT) break
    if (balance < pooled.requiredFunds) break
    // the value may drive it below zero: then the message fails on chain, but it is included
    balance -= pooled.requiredFunds + message.value
    result.push(pooled)
  }
  return result
}

function firstPass(messages: readonly PooledMessage[], baseFee: TokenAmount): MessageChain[] {
  const chains: MessageChain[] = []
  let current: MessageChain | undefined
  for (const pooled of messages) {
    const reward = gasReward(pooled.message, baseFee)
    const { gasLimit } = pooled.message
    if (
      current !== undefined &&
      gasPerformance(current.reward + reward, current.gasLimit + gasLimit) >= current.performance
    ) {
      current.append([pooled], reward, gasLimit)
      continue
    }
    current = new MessageChain(pooled, reward)
    chains.push(current)
  }
  return chains
}

function mergeChains(chains: MessageChain[]): MessageChain[] {
  let remaining = chains
  for (;;) {
    let merged = false
    for (let i = remaining.length - 1; i > 0; i--) {
      const chain = remaining[i]
      const parent = remaining[i - 1]
      if (chain === undefined || parent === undefined || chain.performance < parent.performance) continue
      parent.append(chain.messages, chain.reward, chain.gasLimit)
      chain.valid = false
      merged = true
    }
    if (!merged) return remaining
    remaining = remaining.filter((chain) => chain.valid)
  }
}
