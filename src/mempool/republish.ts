/**
 * Chooses which of our messages to send to the network again: the best-paying chains that fit one block and could be
 * included within 20 epochs.
 * @see lotus chain/messagepool/repub.go republishPendingMessages
 */
import { BLOCK_GAS_LIMIT } from '../types/protocol.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { REPUBLISH_BATCH } from './limits.ts'
import { compareChains, type MessageChain } from './messageChain.ts'
import { pushDown } from './packChains.ts'
import type { PooledMessage } from './pooledMessage.ts'
import { MIN_GAS_WORTH_PACKING } from './rules.ts'

/**
 * @param chains - of local senders, built with `bound` as their base fee; trimmed here
 * @param bound - lowest fee cap that peers take
 * @returns at most 30 messages
 */
export function chooseRepublished(chains: MessageChain[], bound: TokenAmount): PooledMessage[] {
  chains.sort(compareChains)
  const chosen: PooledMessage[] = []
  let gasLeft = BLOCK_GAS_LIMIT
  for (let i = 0; i < chains.length && chosen.length <= REPUBLISH_BATCH && gasLeft > MIN_GAS_WORTH_PACKING; ) {
    const chain = chains[i]
    if (chain === undefined || !chain.valid) {
      i++
      continue
    }
    if (chain.gasLimit > gasLeft) {
      chain.trim(gasLeft, REPUBLISH_BATCH, bound)
      pushDown(chains, i, compareChains)
      continue
    }
    if (chain.messages.some((pooled) => pooled.message.gasFeeCap < bound)) {
      chain.invalidate()
      continue
    }
    for (const pooled of chain.messages) chosen.push(pooled)
    gasLeft -= chain.gasLimit
    i++
  }
  return chosen.slice(0, REPUBLISH_BATCH)
}
