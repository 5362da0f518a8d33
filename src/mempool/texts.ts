/** Texts that several checks share, as Lotus words them. */
import { type Address, isIdAddress } from '../types/address.ts'

/** @see lotus chain/state/statetree.go GetActor, LookupIDAddress */
export function actorNotFound(address: Address, prefix: 'f' | 't'): string {
  const text = address.toString(prefix)
  return isIdAddress(address)
    ? 'actor not found'
    : `resolution lookup failed (${text}): resolve address ${text}: actor not found`
}
