/**
 * Check 16.1: the aggregate over the BLS messages, by the keys of their senders.
 * @see lotus chain/consensus/utils.go VerifyBlsAggregate; lib/async/error.go Err; chain/stmgr/stmgr.go GetBlsPublicKey
 */
import type { BlockMessages } from '../../chain/blockMessages.ts'
import { ChainError } from '../../chain/errors.ts'
import { BLS_SIGNATURE_LENGTH } from '../../crypto/bls.ts'
import { type Address, PROTOCOL_BLS } from '../../types/address.ts'
import { messageCid } from '../../types/message.ts'
import type { Signature } from '../../types/signature.ts'
import type { BlockContext } from '../blockContext.ts'
import { senderKey } from '../senderKey.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Its first 96 bytes count, whatever follows them. Fewer end Lotus' check with a panic, which makes the block invalid even without
 * BLS messages; 96 or more are not looked at then.
 */
export function checkBlsAggregate(context: BlockContext, { bls }: BlockMessages): void {
  const aggregate = (context.header.blsAggregate as Signature).data
  if (aggregate.length < BLS_SIGNATURE_LENGTH) throw aggregateInvalid()
  if (bls.length === 0) return
  const keys = bls.map(({ from }) => blsKey(context, from))
  const data = bls.map((message) => messageCid(message).bytes)
  const signature = aggregate.subarray(0, BLS_SIGNATURE_LENGTH)
  if (!context.signatures.verifyAggregate(signature, data, keys)) throw aggregateInvalid()
}

/** What a block with a false aggregate fails with. */
export function aggregateInvalid(): ValidationError {
  return new ValidationError('BLS_AGGREGATE_INVALID', 'bls aggregate signature was invalid')
}

function blsKey(context: BlockContext, from: Address): Uint8Array {
  let key: Address
  try {
    key = senderKey(context, from)
  } catch (cause) {
    if (!(cause instanceof ChainError)) throw cause
    const text = `failed to load bls public to validate block: ${cause.message}`
    throw new ValidationError('BLS_AGGREGATE_INVALID', text, {}, { cause })
  }
  if (key.protocol === PROTOCOL_BLS) return key.payload
  throw new ValidationError('BLS_AGGREGATE_INVALID', 'address must be BLS address to load bls public key')
}
