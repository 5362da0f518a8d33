/**
 * The key address behind an account, which FVM 2 looks up inside the machine.
 * @see ref-fvm release/v2 fvm/src/kernel/default.rs resolve_to_key_addr
 */
import { decode } from '../../codec/description.ts'
import { getBlock } from '../../ipld/blockstore.ts'
import { accountState } from '../../state/account.ts'
import { type Address, PROTOCOL_BLS, PROTOCOL_SECP256K1 } from '../../types/address.ts'
import type { Machine } from '../machine.ts'
import { Errno, FatalError, SyscallError } from './outcomes.ts'

/**
 * @param charge - called before the state is read, without a size, and after it, with the size in bytes
 * @returns the error instead of throwing it: what it means depends on the caller
 */
export function accountKey(
  machine: Machine,
  signer: Address,
  charge?: (size: number | undefined) => void,
): Address | SyscallError {
  if (signer.protocol === PROTOCOL_BLS || signer.protocol === PROTOCOL_SECP256K1) return signer
  const id = machine.state.lookupId(signer)
  const actor = id === undefined ? undefined : machine.state.getActor(id)
  if (actor === undefined) return new SyscallError(Errno.NotFound, "state tree doesn't contain actor")
  if (!machine.actors.is(actor.code, 'account')) {
    return new SyscallError(Errno.IllegalArgument, 'target actor is not an account')
  }
  charge?.(undefined)
  const data = getBlock(machine.store, actor.head)
  charge?.(data.length)
  try {
    return decode(accountState, data).address
  } catch (cause) {
    throw new FatalError('failed to decode actor state as an account', { cause })
  }
}
