/** States that calls and estimates began on: a tipset's, with messages before theirs applied. */
import type { Lru } from '../base/lru.ts'
import type { Cid } from '../codec/cid.ts'
import type { OverlayBlockstore } from '../ipld/blockstore.ts'
import { type ChainMessage, chainMessageCid } from '../types/chainMessage.ts'

/** States kept on one tipset: senders that push at the same time. */
export const MAX_TRIALS = 64

/** A tipset's parent state with some messages applied, for calls and estimates. */
export interface TrialState {
  /** Of the messages, in order. */
  readonly messages: readonly ChainMessage[]
  readonly root: Cid
}

/** The trials on one tipset: each sender's pending messages lead to another state. */
export interface Trials {
  /** Of the tipset. */
  readonly key: string
  /** What they wrote; named by content, so that one serves all. */
  readonly store: OverlayBlockstore
  /** By their last message. */
  readonly states: Lru<string, TrialState>
  flushes: number
}

/** The kept state that has most of these messages, and no others, applied. */
export function longestPrefix(
  states: Lru<string, TrialState>,
  messages: readonly ChainMessage[],
): TrialState | undefined {
  for (let length = messages.length; length > 0; length--) {
    const state = states.get(keyOf(messages[length - 1] as ChainMessage))
    if (state?.messages.length !== length) continue
    if (state.messages.every((applied, i) => isSame(applied, messages[i] as ChainMessage))) return state
  }
  return undefined
}

/** Mostly one object: a row of estimates asks for the same messages again and again. */
function isSame(a: ChainMessage, b: ChainMessage): boolean {
  return a === b || chainMessageCid(a).equals(chainMessageCid(b))
}

/** What a state of messages that end with this one is kept under. */
export function keyOf(message: ChainMessage): string {
  return chainMessageCid(message).key
}
