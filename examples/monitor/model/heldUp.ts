/** Messages that wait and why, as the node explains them (`MpoolExplain`): the tracked ones, and the first of each watched sender. */
import { type HeldUp, parseCid, RpcClientError } from 'petrel'
import type { PendingMessage, Pool } from './pool.ts'
import type { Session } from './session.ts'

/** Messages that are asked about after each move of the head. */
const MOST_ASKED = 12

/** A message that something holds up. */
export interface StuckMessage {
  readonly cid: string
  /** With the letter f. */
  readonly from: string
  readonly nonce: bigint
  readonly reason: HeldUp
}

/** A sender's message waits for one that nobody has. */
export interface NonceGap {
  /** With the letter f. */
  readonly from: string
  /** First nonce that is missing, and the first above it that waits. */
  readonly missing: bigint
  readonly waiting: bigint
}

/** Messages to ask about. @param senders - names of each watched address, with the letter f */
export function candidates(pool: Pool, tracked: readonly string[], senders: readonly string[]): PendingMessage[] {
  const found = new Map<string, PendingMessage>()
  for (const cid of tracked) {
    const pooled = pool.find(cid)
    if (pooled !== undefined) found.set(pooled.cid, pooled)
  }
  for (const { from, messages } of pool.senders('f')) {
    const [first] = messages
    if (first !== undefined && senders.includes(from)) found.set(first.cid, first)
  }
  return [...found.values()].slice(0, MOST_ASKED)
}

/** Holes between messages of one sender that wait. @param senders - with the letter f */
export function nonceGaps(pool: Pool, senders: readonly string[]): NonceGap[] {
  return pool.senders('f').flatMap(({ from, messages }) => {
    if (!senders.includes(from)) return []
    const nonces = messages.map(({ message }) => message.message.nonce)
    return nonces.flatMap((nonce, i) => {
      const before = nonces[i - 1]
      return before === undefined || nonce === before + 1n ? [] : [{ from, missing: before + 1n, waiting: nonce }]
    })
  })
}

/** What the node last said of messages that wait. */
export class HeldUpMessages {
  #stuck: readonly StuckMessage[] = []
  #isExplained = true

  get stuck(): readonly StuckMessage[] {
    return this.#stuck
  }

  /** Whether the node can tell why. */
  get isExplained(): boolean {
    return this.#isExplained
  }

  clear(): void {
    this.#stuck = []
    this.#isExplained = true
  }

  async read({ node }: Session, asked: readonly PendingMessage[]): Promise<void> {
    const answers = await Promise.all(
      asked.map(async ({ cid, message: { message } }): Promise<StuckMessage[]> => {
        try {
          const { state, reasons } = await node.MpoolExplain(parseCid(cid))
          const [reason] = reasons
          if (state !== 'pending' || reason === undefined) return []
          return [{ cid, from: message.from.toString('f'), nonce: message.nonce, reason }]
        } catch (error) {
          if (!(error instanceof RpcClientError)) throw error
          if (error.code === 'REMOTE') this.#isExplained = false
          return []
        }
      }),
    )
    this.#stuck = answers.flat()
  }
}
