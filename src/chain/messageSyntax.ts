/**
 * The rules that a message must obey to stand in a block, whatever the state.
 * @see lotus chain/types/message.go ValidForBlockInclusion
 */
import { type Address, isBlsZeroAddress, PROTOCOL_DELEGATED } from '../types/address.ts'
import type { Message } from '../types/message.ts'
import { BLOCK_GAS_LIMIT } from '../types/protocol.ts'

/** Every FIL that can exist, attoFIL. */
const TOTAL_FILECOIN = 2_000_000_000n * 10n ** 18n
/** Messages to the BLS zero address are refused from here on. */
const ZERO_ADDRESS_VERSION = 7
/** Delegated addresses exist from here on. */
const DELEGATED_VERSION = 18

/**
 * @param minimumGas - what the message's bytes cost on chain; 0 leaves that to a later check
 * @returns Lotus' text for what is wrong, undefined when nothing is
 */
export function messageSyntaxError(message: Message, minimumGas: bigint, networkVersion: number): string | undefined {
  const { to, from, value, gasFeeCap, gasPremium, gasLimit } = message
  if (message.version !== 0) return "'Version' unsupported"
  if (to.isUndefined) return "'To' address cannot be empty"
  if (networkVersion >= ZERO_ADDRESS_VERSION && isBlsZeroAddress(to)) return "invalid 'To' address"
  if (!addressExists(to, networkVersion)) return "'To' address protocol unsupported for network version"
  if (from.isUndefined) return "'From' address cannot be empty"
  if (!addressExists(from, networkVersion)) return "'From' address protocol unsupported for network version"
  if (value < 0n) return "'Value' field cannot be negative"
  if (value > TOTAL_FILECOIN) return "'Value' field cannot be greater than total filecoin supply"
  if (gasFeeCap < 0n) return "'GasFeeCap' field cannot be negative"
  if (gasPremium < 0n) return "'GasPremium' field cannot be negative"
  if (gasPremium > gasFeeCap) return "'GasFeeCap' less than 'GasPremium'"
  if (gasLimit > BLOCK_GAS_LIMIT) {
    return `'GasLimit' field cannot be greater than a block's gas limit (${gasLimit} > ${BLOCK_GAS_LIMIT})`
  }
  if (gasLimit <= 0n) return `'GasLimit' field ${gasLimit} must be positive`
  if (gasLimit < minimumGas) {
    return `'GasLimit' field cannot be less than the cost of storing a message on chain ${gasLimit} < ${minimumGas}`
  }
  return undefined
}

function addressExists(address: Address, networkVersion: number): boolean {
  return address.protocol !== PROTOCOL_DELEGATED || networkVersion >= DELEGATED_VERSION
}
