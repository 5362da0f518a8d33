/**
 * Ethereum's view of addresses: 20 bytes, `0x…`.
 * @see lotus chain/types/ethtypes/eth_types.go EthAddress ToFilecoinAddress, EthAddressFromFilecoinAddress
 */
import { fromHex, toHex } from '../base/bytes.ts'
import { CodecError } from '../codec/errors.ts'
import {
  type Address,
  addressToId,
  delegatedAddress,
  delegatedParts,
  idAddress,
  isIdAddress,
  NAMESPACE_EAM,
} from './address.ts'

const LENGTH = 20
const MAX_INT64 = (1n << 63n) - 1n
/** Where the number starts in a masked ID: 0xff, eleven zeros, eight bytes. */
const MASKED_ID_OFFSET = 12

function isMaskedId(bytes: Uint8Array): boolean {
  if (bytes[0] !== 0xff) return false
  for (let i = 1; i < MASKED_ID_OFFSET; i++) if (bytes[i] !== 0) return false
  return true
}

/**
 * The Filecoin address of 20 bytes: f0 for the masked ID form `0xff00…`, else f410.
 * @throws CodecError `INVALID_ADDRESS` on another length, on an ID of 2^63 or above
 */
export function ethAddressToAddress(bytes: Uint8Array): Address {
  if (bytes.length !== LENGTH)
    throw new CodecError('INVALID_ADDRESS', `Cannot use an Ethereum address of ${bytes.length} bytes, expected 20`)
  if (!isMaskedId(bytes)) return delegatedAddress(NAMESPACE_EAM, bytes)
  const id = BigInt(`0x${toHex(bytes.subarray(MASKED_ID_OFFSET))}`)
  if (id > MAX_INT64) throw new CodecError('INVALID_ADDRESS', 'IDs must be less than 2^63')
  return idAddress(id)
}

/** The 20 bytes of an f410 or f0 address; undefined for others. */
export function addressToEthAddress(address: Address): Uint8Array | undefined {
  if (isIdAddress(address)) return maskedIdAddress(addressToId(address))
  const parts = delegatedParts(address)
  if (parts === undefined || parts.namespace !== NAMESPACE_EAM || parts.subaddress.length !== LENGTH) return undefined
  return isMaskedId(parts.subaddress) ? undefined : parts.subaddress
}

/** 0xff, eleven zero bytes, the number as eight bytes. */
export function maskedIdAddress(id: bigint): Uint8Array {
  return fromHex(`ff${'00'.repeat(11)}${id.toString(16).padStart(16, '0')}`)
}

/**
 * The Filecoin address of `0x` and 40 digits.
 * @throws CodecError `INVALID_ADDRESS`
 */
export function parseEthAddress(text: string): Address {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text))
    throw new CodecError('INVALID_ADDRESS', 'Cannot read Ethereum address: expected 0x and 40 hexadecimal digits')
  return ethAddressToAddress(fromHex(text))
}
