/**
 * Actors by Ethereum's 20 bytes.
 * @see lotus node/impl/eth/utils.go lookupEthAddress
 */
import { fromHex } from '../base/bytes.ts'
import { resolveId } from '../chain/chainView.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { Address } from '../types/address.ts'
import { addressToEthAddress, maskedIdAddress } from '../types/ethAddress.ts'
import type { ActorId } from '../types/scalars.ts'

/** Stands for a recipient that does not exist. */
export const NOBODY: Uint8Array = fromHex('ff0000000000000000000000ffffffffffffffff')

/**
 * The f410 address of an actor without its prefix if it has one, else its masked ID.
 * @returns undefined when there is no such actor
 */
export function ethAddressOf(tree: StateTree, address: Address): Uint8Array | undefined {
  const direct = address.protocol === 4 ? addressToEthAddress(address) : undefined
  if (direct !== undefined) return direct
  const id = resolveId(tree, address)
  return id === undefined ? undefined : ethAddressOfId(tree, id)
}

/** The same of an actor by its ID, whether there is one or not. */
export function ethAddressOfId(tree: Pick<StateTree, 'getActor'>, id: ActorId): Uint8Array {
  const delegated = tree.getActor(id)?.delegatedAddress
  const known = delegated === null || delegated === undefined ? undefined : addressToEthAddress(delegated)
  return known ?? maskedIdAddress(id)
}
