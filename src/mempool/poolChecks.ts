/**
 * Checks of messages against a pool, for MpoolCheckMessages and its kin.
 * @see lotus chain/messagepool/check.go
 */
import type { Address } from '../types/address.ts'
import type { Message } from '../types/message.ts'
import { type CheckedMessage, checkMessages, type SenderStart } from './checkMessages.ts'
import type { MessageCheck } from './checkStatus.ts'
import type { MessagePool } from './messagePool.ts'

type CheckedPool = Pick<MessagePool, 'checkContext' | 'pendingOf' | 'nextNonceOf'>

/** Checks messages that are not in the pool, as if they came after what is. */
export async function checkNew(pool: CheckedPool, messages: readonly CheckedMessage[]): Promise<MessageCheck[][]> {
  const context = await pool.checkContext()
  return checkMessages(messages, { ...context, pendingStart: (sender) => pendingStart(pool, sender) })
}

/** Checks what a sender has pending; undefined when that is nothing. */
export async function checkPending(pool: CheckedPool, sender: Address): Promise<MessageCheck[][] | undefined> {
  const pending = pool.pendingOf(sender).map(({ message }) => message)
  return pending.length === 0 ? undefined : await checkAlone(pool, pending)
}

/** Checks what is pending of these senders with the given messages in place of those of the same nonce. */
export async function checkReplacing(pool: CheckedPool, replacements: readonly Message[]): Promise<MessageCheck[][]> {
  const bySender = new Map<string, Map<bigint, Message>>()
  for (const message of replacements) {
    let byNonce = bySender.get(message.from.key)
    if (byNonce === undefined) {
      byNonce = new Map(pool.pendingOf(message.from).map((pooled) => [pooled.message.nonce, pooled.message]))
      bySender.set(message.from.key, byNonce)
    }
    byNonce.set(message.nonce, message)
  }
  const messages = [...bySender.values()].flatMap((byNonce) =>
    [...byNonce.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1)),
  )
  return await checkAlone(pool, messages)
}

/** The messages are everything that their senders have pending. */
async function checkAlone(pool: CheckedPool, messages: readonly Message[]): Promise<MessageCheck[][]> {
  const context = await pool.checkContext()
  const checked = messages.map((message) => ({ message, anyNonce: false }))
  return checkMessages(checked, { ...context, pendingStart: () => undefined })
}

function pendingStart(pool: CheckedPool, sender: Address): SenderStart | undefined {
  const nextNonce = pool.nextNonceOf(sender)
  if (nextNonce === undefined) return undefined
  const requiredFunds = pool
    .pendingOf(sender)
    .reduce((sum, pooled) => sum + pooled.requiredFunds + pooled.message.value, 0n)
  return { nextNonce, requiredFunds }
}
