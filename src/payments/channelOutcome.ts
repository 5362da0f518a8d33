/** What becomes of a channel when a message that makes or funds it is executed. @see lotus paychmgr/simple.go */
import { PetrelError } from '../base/errors.ts'
import { ChainError } from '../chain/errors.ts'
import type { FoundMessage } from '../chain/searchMessage.ts'
import { decode } from '../codec/description.ts'
import { execReturn } from '../state/params/init.ts'
import type { ChannelRecord, Outcome } from './channelStore.ts'

/**
 * The channel after its message, which is under way in `record`. One whose message was replaced would wait for it for ever in Lotus,
 * which tells only who waits for that message.
 * @param receipt - or why there is none
 */
export function outcomeOf(record: ChannelRecord, receipt: FoundMessage['receipt'] | ChainError): Outcome {
  const done = { ...record, pending: 0n, pendingAvailable: 0n, createMessage: null, addMessage: null }
  if (receipt instanceof ChainError) {
    const error = receipt.message
    // Of a message that nobody knows nobody knows either whether the chain has it: another channel might be paid for twice.
    if (receipt.code !== 'MESSAGE_REPLACED') return { record, error }
    return { record: record.createMessage === null ? done : undefined, error }
  }
  const { exitCode } = receipt
  if (exitCode !== 0 && record.createMessage !== null) {
    return { record: undefined, error: `payment channel creation failed (exit code ${exitCode})` }
  }
  if (exitCode !== 0) {
    return { record: done, error: `voucher channel creation failed: adding funds (exit code ${exitCode})` }
  }
  try {
    const channel = record.channel ?? decode(execReturn, receipt.return).robustAddress
    const [amount, available] = [record.amount + record.pending, record.available + record.pendingAvailable]
    return { record: { ...done, channel, amount, available }, error: '' }
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    return { record, error: error.message }
  }
}
