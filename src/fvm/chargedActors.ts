/**
 * The actors of the state as a message's calls see them: what is looked at or changed for the first time is charged for.
 * @see ref-fvm fvm/src/call_manager/state_access_tracker.rs; fvm/src/call_manager/default.rs
 */
import type { Cid } from '../codec/cid.ts'
import type { ActorState } from '../types/actor.ts'
import type { Address } from '../types/address.ts'
import type { ActorId, TokenAmount } from '../types/scalars.ts'
import { EMPTY_ARRAY_CID } from './emptyArray.ts'
import { filText } from './filText.ts'
import type { PriceList } from './gas/priceList.ts'
import { GasTracker } from './gas/tracker.ts'
import { Errno, SyscallError } from './kernel/outcomes.ts'
import type { Machine } from './machine.ts'
import type { MachineState } from './machineState.ts'
import type { VmRules } from './rules.ts'
import { StateAccess } from './stateAccess.ts'

/** What the call manager knows of actors: each look-up and update goes through here. */
export class ChargedActors {
  readonly machine: Machine
  readonly gas: GasTracker
  readonly rules: VmRules
  readonly prices: PriceList
  protected readonly state: MachineState
  protected readonly access: StateAccess = new StateAccess()

  /** @param gasLimit - whole gas */
  constructor(machine: Machine, gasLimit: bigint) {
    this.machine = machine
    this.rules = machine.rules
    this.prices = machine.prices
    this.state = machine.state
    this.gas = new GasTracker(gasLimit, machine.checkpoint)
  }

  /** ID of an address, charged where it is not known yet. */
  resolveAddress(address: Address): ActorId | undefined {
    if (this.rules.chargesStateAccess && !this.access.isResolved(address)) this.gas.charge('OnResolveAddress', 0)
    const id = this.state.lookupId(address)
    if (id !== undefined) this.access.recordResolved(address)
    return id
  }

  getActor(id: ActorId): ActorState | undefined {
    if (this.rules.chargesStateAccess && !this.access.isRead(id)) {
      this.gas.apply(this.prices.onActorLookup())
      this.access.recordRead(id)
    }
    return this.state.getActor(id)
  }

  setActor(id: ActorId, actor: ActorState): void {
    this.#chargeUpdate(id)
    this.state.setActor(id, actor)
  }

  deleteActor(id: ActorId): void {
    this.#chargeUpdate(id)
    this.state.deleteActor(id)
  }

  #chargeUpdate(id: ActorId): void {
    if (!this.rules.chargesStateAccess || this.access.isUpdated(id)) return
    if (!this.access.isRead(id)) this.gas.apply(this.prices.onActorLookup())
    this.gas.apply(this.prices.onActorUpdate())
    this.access.recordUpdate(id)
  }

  /** @throws SyscallError IllegalArgument, InsufficientFunds, NotFound */
  transfer(from: ActorId, to: ActorId, value: TokenAmount): void {
    if (value < 0n) {
      throw new SyscallError(Errno.IllegalArgument, `attempted to transfer negative transfer value ${filText(value)}`)
    }
    const sender = this.getActor(from)
    if (sender === undefined) {
      throw new SyscallError(Errno.InsufficientFunds, this.rules.texts.noSender(value, from, to))
    }
    if (sender.balance < value) {
      throw new SyscallError(
        Errno.InsufficientFunds,
        `sender does not have funds to transfer (balance ${filText(sender.balance)}, transfer ${filText(value)})`,
      )
    }
    if (from === to) return
    const receiver = this.getActor(to)
    if (receiver === undefined) {
      throw new SyscallError(Errno.NotFound, this.rules.texts.noReceiver(to))
    }
    this.setActor(from, { ...sender, balance: sender.balance - value })
    this.setActor(to, { ...receiver, balance: receiver.balance + value })
  }
}

/** An actor with an empty state. */
export function newActor(code: Cid, delegatedAddress: Address | null): ActorState {
  return { code, head: EMPTY_ARRAY_CID, nonce: 0n, balance: 0n, delegatedAddress }
}
