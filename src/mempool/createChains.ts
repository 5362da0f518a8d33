/**
 * Cuts the pending messages of a sender into chains: first runs of non-falling price per gas, then merged until each
 * chain pays more per gas than the one after it.
 * @see lotus chain/messagepool/selection.go createMessageChains
 */
import { BLOCK_GAS_LIMIT, BLOCK_MESSAGE_LIMIT } from '../types/protocol.ts'
import type { ChainEpoch, Nonce, TokenAmount } from '../types/scalars.ts'
import { gasReward } from './fees.ts'
import { gasPerformance, MessageChain } from './messageChain.ts'
import type { MinimumGas } from './minimumGas.ts'
import type { PooledMessage } from './pooledMessage.ts'
import type { SenderState } from './ports.ts'

/** What the candidates of one sender are measured against. */
export interface ChainConditions {
  /** The sender after the tipset that the block builds on; undefined: it does not exist. */
  readonly actor: SenderState | undefined
  readonly baseFee: TokenAmount
  /** Epoch of that tipset: prices of message bytes go by it. */
  readonly epoch: ChainEpoch
  readonly minimumGas: MinimumGas
}

/** What becomes a chain: messages in a row. */
interface Run {
  readonly messages: PooledMessage[]
  reward: TokenAmount
  gasLimit: bigint
  performance: number
}

/** How a sender's messages were cut, and what that depends on. */
interface Cut {
  readonly runs: readonly Run[]
  readonly nonce: Nonce | undefined
  readonly balance: TokenAmount | undefined
  /** Tells the price lists apart. */
  readonly price: bigint
  readonly baseFee: TokenAmount
  /** Up to this base fee every message pays its whole premium, so that rewards are the same. */
  readonly fullUpTo: TokenAmount
}

/**
 * From one tipset to the next few senders' messages, nonces and balances change: the pool's arrays are the same then
 * (`MessageSet.toSorted`), and so is how they are cut.
 */
const cuts = new WeakMap<readonly PooledMessage[], Cut>()

/**
 * @param messages - one sender's, by ascending nonce; not changed any more
 * @returns linked chains in nonce order; none when the next message cannot be included
 */
export function createChains(messages: readonly PooledMessage[], conditions: ChainConditions): MessageChain[] {
  const chains: MessageChain[] = []
  let previous: MessageChain | undefined
  for (const { messages: own, reward, gasLimit, performance } of runsOf(messages, conditions)) {
    const chain = new MessageChain(own, reward, gasLimit, performance)
    if (previous !== undefined) {
      chain.previous = previous
      previous.next = chain
    }
    chains.push(chain)
    previous = chain
  }
  return chains
}

function runsOf(messages: readonly PooledMessage[], conditions: ChainConditions): readonly Run[] {
  const { actor, baseFee, epoch, minimumGas } = conditions
  const price = minimumGas.executed(epoch, 0)
  const known = cuts.get(messages)
  if (
    known !== undefined &&
    known.nonce === actor?.nonce &&
    known.balance === actor?.balance &&
    known.price === price &&
    (known.baseFee === baseFee || (known.baseFee <= known.fullUpTo && baseFee <= known.fullUpTo))
  ) {
    return known.runs
  }
  const candidates = selectIncludable(messages, conditions)
  const runs = mergeRuns(firstPass(candidates, baseFee))
  const fullUpTo = lowestMargin(candidates)
  cuts.set(messages, { runs, nonce: actor?.nonce, balance: actor?.balance, price, baseFee, fullUpTo })
  return runs
}

/** How far the base fee may rise until one of them pays less than its premium. */
function lowestMargin(messages: readonly PooledMessage[]): TokenAmount {
  let lowest: TokenAmount | undefined
  for (const { message } of messages) {
    const margin = message.gasFeeCap - message.gasPremium
    if (lowest === undefined || margin < lowest) lowest = margin
  }
  return lowest ?? 0n
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
    // Lotus takes such a message, and its miner pays for it.
    if (message.gasLimit < minimumGas.executed(epoch, pooled.chainLengthBytes)) break
    gas += message.gasLimit
    if (gas > BLOCK_GAS_LIMIT) break
    if (balance < pooled.requiredFunds) break
    // the value may drive it below zero: then the message fails on chain, but it is included
    balance -= pooled.requiredFunds + message.value
    result.push(pooled)
  }
  return result
}

function firstPass(messages: readonly PooledMessage[], baseFee: TokenAmount): Run[] {
  const runs: Run[] = []
  let current: Run | undefined
  for (const pooled of messages) {
    const reward = gasReward(pooled.message, baseFee)
    const { gasLimit } = pooled.message
    if (current !== undefined) {
      const performance = gasPerformance(current.reward + reward, current.gasLimit + gasLimit)
      if (performance >= current.performance) {
        extend(current, [pooled], reward, gasLimit)
        current.performance = performance
        continue
      }
    }
    current = { messages: [pooled], reward, gasLimit, performance: gasPerformance(reward, gasLimit) }
    runs.push(current)
  }
  return runs
}

/** Adds what follows it; its performance is another one then. */
function extend(run: Run, messages: readonly PooledMessage[], reward: TokenAmount, gasLimit: bigint): void {
  for (const message of messages) run.messages.push(message)
  run.reward += reward
  run.gasLimit += gasLimit
}

function mergeRuns(runs: Run[]): Run[] {
  let remaining = runs
  for (;;) {
    const kept: Run[] = []
    for (let i = remaining.length - 1; i >= 0; i--) {
      const run = remaining[i] as Run
      const parent = remaining[i - 1]
      if (parent === undefined || run.performance < parent.performance) {
        kept.push(run)
        continue
      }
      extend(parent, run.messages, run.reward, run.gasLimit)
      parent.performance = gasPerformance(parent.reward, parent.gasLimit)
    }
    if (kept.length === remaining.length) return remaining
    remaining = kept.reverse()
  }
}
