/**
 * Chooses the messages of a block.
 * @see lotus chain/messagepool/selection.go SelectMessages
 */
import type { Steps } from '../base/steps.ts'
import type { Address } from '../types/address.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { BlockBudget } from './blockBudget.ts'
import { type ChainConditions, createChains } from './createChains.ts'
import type { MessageChain } from './messageChain.ts'
import { packChains } from './packChains.ts'
import { packOptimal } from './packOptimal.ts'
import type { PooledMessage } from './pooledMessage.ts'
import type { ActorReader } from './ports.ts'
import { GREEDY_TICKET_QUALITY } from './rules.ts'

/** Pending messages of one sender, by nonce. */
export interface Candidates {
  readonly sender: Address
  readonly messages: readonly PooledMessage[]
}

/** What selection depends on besides the messages. */
export interface SelectionInput {
  /** State after the tipset that the block builds on. */
  readonly actors: Pick<ActorReader, 'senders'>
  readonly conditions: Omit<ChainConditions, 'actor'>
  /** 0 to 1: how likely our block is to be the first of its tipset. */
  readonly ticketQuality: number
  /** Key addresses of senders that go first. */
  readonly priority: readonly Address[]
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/** @returns the messages in the order of the block; each sender's by nonce. A step is a sender, or a chain of messages */
export function* selectMessages(candidates: readonly Candidates[], input: SelectionInput): Steps<PooledMessage[]> {
  const { baseFee } = input.conditions
  const block = new BlockBudget()
  const first = new Set(input.priority.map((address) => address.key))
  const priority = candidates.filter(({ sender }) => first.has(sender.key))
  packChains(block, yield* chainsOf(priority, input), baseFee)
  if (block.full) return block.messages
  const others = yield* chainsOf(
    candidates.filter(({ sender }) => !first.has(sender.key)),
    input,
  )
  yield* pack(block, others, baseFee, input)
  return block.messages
}

function* pack(block: BlockBudget, chains: MessageChain[], baseFee: TokenAmount, input: SelectionInput): Steps<void> {
  if (input.ticketQuality > GREEDY_TICKET_QUALITY) packChains(block, chains, baseFee)
  else yield* packOptimal(block, chains, baseFee, input.ticketQuality, input.random)
}

function* chainsOf(candidates: readonly Candidates[], input: SelectionInput): Steps<MessageChain[]> {
  const result: MessageChain[] = []
  const actorOf = yield* input.actors.senders()
  for (const { sender, messages } of candidates) {
    const actor = actorOf(sender)
    for (const chain of createChains(messages, { ...input.conditions, actor })) result.push(chain)
    yield
  }
  return result
}
