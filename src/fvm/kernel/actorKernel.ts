import type { Cid } from '../../codec/cid.ts'
import type { ActorState } from '../../types/actor.ts'
import type { Address } from '../../types/address.ts'
import type { ActorId, TokenAmount } from '../../types/scalars.ts'
import { BURNT_FUNDS_ID, INIT_ID } from '../../types/singletons.ts'
import { gasCharge } from '../gas/charge.ts'
import { IpldKernel } from './ipldKernel.ts'
import type { ActorOps, SelfOps } from './kernel.ts'
import { Errno, FatalError, SyscallError } from './outcomes.ts'

const ON_SELF_BALANCE = gasCharge('OnSelfBalance', 0)
const ON_BALANCE_OF = gasCharge('OnBalanceOf', 0)
const ON_RESOLVE_ADDRESS = gasCharge('OnResolveAddress', 0)
const ON_LOOKUP_ADDRESS = gasCharge('OnLookupAddress', 0)
const ON_GET_CODE_CID = gasCharge('OnGetActorCodeCid', 0)
const ON_GET_TYPE = gasCharge('OnGetBuiltinActorType', 0)
const ON_GET_CODE_FOR_TYPE = gasCharge('OnGetCodeCidForType', 0)

/**
 * The actor's own state and balance, and other actors.
 * @see ref-fvm fvm/src/kernel/default.rs `impl SelfOps`, `impl ActorOps`
 */
export class ActorKernel extends IpldKernel implements SelfOps, ActorOps {
  root(): Cid {
    this.apply(this.calls.prices.onGetRoot())
    const actor = this.calls.getActor(this.actorId)
    if (actor === undefined) {
      throw new SyscallError(Errno.IllegalOperation, 'state root requested after actor deletion')
    }
    this.blocks.markReachable(actor.head)
    return actor.head
  }

  setRoot(root: Cid): void {
    this.refuseReadOnly('cannot update the state-root while read-only')
    this.apply(this.calls.prices.onSetRoot())
    if (this.calls.rules.tracksReachability && !this.blocks.isReachable(root)) {
      throw new SyscallError(Errno.NotFound, `new root cid not reachable: ${root}`)
    }
    const actor = this.calls.getActor(this.actorId)
    if (actor === undefined) throw new SyscallError(Errno.IllegalOperation, 'actor deleted')
    this.calls.setActor(this.actorId, { ...actor, head: root })
  }

  currentBalance(): TokenAmount {
    this.applyFree(ON_SELF_BALANCE)
    return this.calls.getActor(this.actorId)?.balance ?? 0n
  }

  selfDestruct(burnUnspent: boolean): void {
    this.refuseReadOnly('cannot self-destruct when read-only')
    this.apply(this.calls.prices.onDeleteActor())
    const balance = this.currentBalance()
    if (balance !== 0n) {
      if (!burnUnspent) throw new SyscallError(Errno.IllegalOperation, 'self-destruct with unspent funds')
      try {
        this.calls.transfer(this.actorId, BURNT_FUNDS_ID, balance)
        this.calls.traceTransfer(this.actorId, BURNT_FUNDS_ID, balance)
      } catch (error) {
        if (error instanceof SyscallError) throw new FatalError(error.message, { cause: error })
        throw error
      }
    }
    this.calls.deleteActor(this.actorId)
  }

  selfDestructTo(beneficiary: Address): void {
    this.refuseReadOnly('cannot self-destruct when read-only')
    this.apply(this.calls.prices.onDeleteActor())
    const balance = this.currentBalance()
    if (balance !== 0n) {
      const id = this.resolveAddress(beneficiary)
      if (id === this.actorId) throw new SyscallError(Errno.Forbidden, 'benefactor cannot be beneficiary')
      this.calls.transfer(this.actorId, id, balance)
      this.calls.traceTransfer(this.actorId, id, balance)
    }
    this.calls.deleteActor(this.actorId)
  }

  resolveAddress(address: Address): ActorId {
    this.applyFree(ON_RESOLVE_ADDRESS)
    const id = this.calls.resolveAddress(address)
    if (id === undefined) throw new SyscallError(Errno.NotFound, 'actor not found')
    return id
  }

  protected actorOf(id: ActorId, what = 'actor not found'): ActorState {
    const actor = this.calls.getActor(id)
    if (actor === undefined) throw new SyscallError(Errno.NotFound, what)
    return actor
  }

  lookupDelegatedAddress(id: ActorId): Address | null {
    this.apply(ON_LOOKUP_ADDRESS)
    return this.actorOf(id).delegatedAddress
  }

  getActorCodeCid(id: ActorId): Cid {
    this.applyFree(ON_GET_CODE_CID)
    return this.actorOf(id, this.calls.rules.texts.noCode).code
  }

  nextActorAddress(): Address {
    return this.calls.nextActorAddress(this.calls.origin.senderAddress)
  }

  createActor(code: Cid, id: ActorId, delegatedAddress: Address | null): void {
    if (this.actorId !== INIT_ID) {
      throw new SyscallError(Errno.Forbidden, `create_actor is restricted to InitActor. Called by ${this.actorId}`)
    }
    this.refuseReadOnly('create_actor cannot be called while read-only')
    this.calls.createActor(code, id, delegatedAddress)
  }

  getBuiltinActorType(code: Cid): number {
    this.applyFree(ON_GET_TYPE)
    return this.calls.machine.actors.typeOf(code)
  }

  getCodeCidForType(type: number): Cid {
    this.applyFree(ON_GET_CODE_FOR_TYPE)
    const code = this.calls.machine.actors.codeOfType(type)
    if (code === undefined) {
      throw new SyscallError(Errno.IllegalArgument, 'tried to resolve CID of unrecognized actor type')
    }
    return code
  }

  balanceOf(id: ActorId): TokenAmount {
    this.apply(ON_BALANCE_OF)
    return this.actorOf(id).balance
  }
}
