/**
 * Refuses recipients from which nothing ever comes back: f4 addresses that are no Ethereum address.
 * @see lotus node/impl/full/mpool.go sanityCheckOutgoingMessage
 */
import { PROTOCOL_DELEGATED } from '../types/address.ts'
import { addressToEthAddress } from '../types/ethAddress.ts'
import type { Message } from '../types/message.ts'
import { MempoolError } from './errors.ts'

/**
 * @param context - Lotus' words for which message it is
 * @throws {@link MempoolError} `RECIPIENT_INVALID`
 */
export function assertRecipient(message: Message, prefix: 'f' | 't', context: string): void {
  const { to } = message
  if (to.protocol !== PROTOCOL_DELEGATED || addressToEthAddress(to) !== undefined) return
  throw new MempoolError(
    'RECIPIENT_INVALID',
    `${context} failed sanity check: message recipient ${to.toString(prefix)} is a delegated address but not a valid Eth Address`,
  )
}
