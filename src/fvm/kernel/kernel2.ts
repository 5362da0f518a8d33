import type { Cid } from '../../codec/cid.ts'
import type { Address } from '../../types/address.ts'
import type { ActorId } from '../../types/scalars.ts'
import { accountKey } from './accountKey.ts'
import { hashData } from './cryptoChecks.ts'
import { DefaultKernel } from './defaultKernel.ts'
import { Errno, FatalError, SyscallError } from './outcomes.ts'

/** The kernel of FVM 2, where it is more than other rules. @see ref-fvm release/v2 fvm/src/kernel/default.rs */
export class Kernel2 extends DefaultKernel {
  override nextActorAddress(): Address {
    const { origin, machine } = this.calls
    const key = accountKey(machine, origin.senderAddress)
    if (key instanceof SyscallError) throw new FatalError(key.message, { cause: key })
    return this.calls.nextActorAddress(key)
  }

  /** Any actor may do this there. */
  override createActor(code: Cid, id: ActorId, _delegatedAddress: Address | null): void {
    const { actors } = this.calls.machine
    if (actors.typeOf(code) === 0) throw new SyscallError(Errno.Forbidden, 'can only create built-in actors')
    if (actors.isSingleton(code)) {
      throw new SyscallError(Errno.Forbidden, 'can only have one instance of singleton actors')
    }
    this.calls.createActor(code, id, null)
  }

  protected override keyOf(signer: Address): Address {
    const { gas, prices, machine } = this.calls
    const key = accountKey(machine, signer, (size) => {
      gas.apply(size === undefined ? prices.onBlockOpenBase() : prices.onBlockOpen(size, 0))
    })
    if (key instanceof SyscallError) throw key
    return key
  }

  /** Charged before the code is looked at. */
  override hash(code: bigint, data: Uint8Array): Uint8Array {
    this.apply(this.calls.prices.onHashing(0, data.length))
    const digest = hashData(code)
    if (digest === undefined) throw new SyscallError(Errno.IllegalArgument, `unsupported hash code ${code}`)
    return digest(data)
  }
}
