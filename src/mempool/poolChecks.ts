/**
 * Checks of messages against a pool, for MpoolCheckMessages and its kin.
 * @see lotus chain/messagepool/check.go
 */
import { MAX_CHECKED_MESSAGES } from '../base/bounds.ts'
import { finish, type Walk } from '../base/steps.ts'
import type { Address } from '../types/address.ts'
import type { Message } from '../types/message.ts'
import { type CheckedMessage, checkMessages, type SenderStart } from './checkMessages.ts'
import type { MessageCheck } from './checkStatus.ts'
import { MempoolError } from './errors.ts'
import type { MessagePool } from './messagePool.ts'

type CheckedPool = Pick<MessagePool, 'checkContext' | 'pendingOf' | 'nextNonceOf'>

/** Checks messages that are not in the pool, as if they came after what is. */
export async function checkNew(
  pool: CheckedPool,
  messages: readonly CheckedMessage[],
  walk: Walk = finish,
): Promise<MessageCheck[][]> {
  const context = await pool.checkContext()
  return await walk(checkMessages(messages, { ...context, pendingStart: (sender) => pendingStart(pool, sender) }))
}

/** Checks what a sender has pending; undefined when that is nothing. */
export async function checkPending(
  pool: CheckedPool,
  sender: Address,
  walk: Walk = finish,
): Promise<MessageCheck[][] | undefined> {
  const pending = pool.pendingOf(sender).map(({ message }) => message)
  return pending.length === 0 ? undefined : await checkAlone(pool, pending, walk)
}

/**
 * Checks what is pending of these senders with the given messages in place of those of the same nonce.
 * @throws {@link MempoolError} `TOO_MANY_MESSAGES` as a rejection
 */
export async function checkReplacing(
  pool: CheckedPool,
  replacements: readonly Message[],
  walk: Walk = finish,
): Promise<MessageCheck[][]> {
  const bySender = new Map<string, Map<bigint, Message>>()
  let count = 0
  for (const message of replacements) {
    let byNonce = bySender.get(message.from.key)
    if (byNonce === undefined) {
      const pending = pool.pendingOf(message.from)
      count += pending.length
      byNonce = new Map(pending.map((pooled) => [pooled.message.nonce, pooled.message]))
      bySender.set(message.from.key, byNonce)
    }
    if (!byNonce.has(message.nonce)) count++
    if (count > MAX_CHECKED_MESSAGES) {
      const text = `Cannot check the messages: with what their senders have pending they are more than ${MAX_CHECKED_MESSAGES}`
      throw new MempoolError('TOO_MANY_MESSAGES', text)
    }
    byNonce.set(message.nonce, message)
  }
  const messages = [...bySender.values()].flatMap((byNonce) =>
    [...byNonce.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1)),
  )
  return await checkAlone(pool, messages, walk)
}

/** The messages are everything that their senders have pending. */
async function checkAlone(pool: CheckedPool, messages: readonly Message[], walk: Walk): Promise<MessageCheck[][]> {
  const context = await pool.checkContext()
  const checked = messages.map((message) => ({ message, anyNonce: false }))
  return await walk(checkMessages(checked, { ...context, pendingStart: () => undefined }))
}

function pendingStart(pool: CheckedPool, sender: Address): SenderStart | undefined {
  const nextNonce = pool.nextNonceOf(sender)
  if (nextNonce === undefined) return undefined
  const requiredFunds = pool
    .pendingOf(sender)
    .reduce((sum, pooled) => sum + pooled.requiredFunds + pooled.message.value, 0n)
  return { nextNonce, requiredFunds }
}
