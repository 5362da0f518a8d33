import type { Cid } from '../../codec/cid.ts'
import { drawRandomnessFromDigest } from '../../crypto/drawRandomness.ts'
import type { TokenAmount } from '../../types/scalars.ts'
import { ExternFailure } from '../externs.ts'
import { gasCharge } from '../gas/charge.ts'
import { ActorKernel } from './actorKernel.ts'
import { decodeEvent, parseEvent } from './eventForms.ts'
import type {
  EventEntryHeader,
  EventOps,
  MessageContext,
  MessageOps,
  NetworkContext,
  NetworkOps,
  RandomnessOps,
} from './kernel.ts'
import { Errno, FatalError, SyscallError } from './outcomes.ts'

const MAX_U128 = (1n << 128n) - 1n
const MAX_EVENT_BYTES = 2 ** 20
/** A lookback that no gas pays for: the reference turns a negative one into a huge unsigned number. */
const ENDLESS = 2 ** 64
const ON_MESSAGE_CONTEXT = gasCharge('OnMessageContext', 0)
const ON_NETWORK_CONTEXT = gasCharge('OnNetworkContext', 0)

/**
 * What surrounds the call: its message, the network, randomness; and the events that go out.
 * @see ref-fvm fvm/src/kernel/default.rs `impl MessageOps`, `NetworkOps`, `RandomnessOps`, `EventOps`
 */
export class ContextKernel extends ActorKernel implements MessageOps, NetworkOps, RandomnessOps, EventOps {
  messageContext(): MessageContext {
    this.applyFree(ON_MESSAGE_CONTEXT)
    const { origin } = this.calls
    if (this.value < 0n || this.value > MAX_U128) throw new FatalError('invalid token amount')
    if (origin.gasPremium < 0n || origin.gasPremium > MAX_U128) throw new FatalError('invalid gas premium')
    return {
      origin: origin.sender,
      nonce: origin.nonce,
      caller: this.caller,
      receiver: this.actorId,
      method: this.method,
      valueReceived: this.value,
      gasPremium: origin.gasPremium,
      readOnly: this.readOnly,
    }
  }

  networkContext(): NetworkContext {
    this.applyFree(ON_NETWORK_CONTEXT)
    const { context } = this.calls.machine
    return {
      epoch: context.epoch,
      timestamp: BigInt(context.timestamp),
      baseFee: context.baseFee,
      chainId: context.chainId,
      networkVersion: context.networkVersion,
    }
  }

  baseFee(): TokenAmount {
    return this.calls.machine.context.baseFee
  }

  totalFilCircSupply(): TokenAmount {
    return this.calls.machine.context.circulatingSupply
  }

  tipsetCid(epoch: bigint): Cid {
    if (epoch < 0n) throw new SyscallError(Errno.IllegalArgument, 'epoch is negative')
    const { machine, gas, prices, rules } = this.calls
    const offset = BigInt(machine.context.epoch) - epoch
    if (offset < 0n) throw new SyscallError(Errno.IllegalArgument, `epoch ${epoch} is in the future`)
    if (offset === 0n) {
      throw new SyscallError(Errno.IllegalArgument, 'cannot lookup the tipset cid for the current epoch')
    }
    if (offset >= rules.maxTipsetLookback) {
      throw new SyscallError(Errno.IllegalArgument, `epoch ${epoch} is too far in the past`)
    }
    gas.apply(prices.onTipsetCid(Number(offset)))
    try {
      return machine.externs.tipsetCid(Number(epoch))
    } catch (error) {
      if (error instanceof ExternFailure) throw new FatalError(error.message, { cause: error })
      throw error
    }
  }

  chainRandomness(epoch: bigint): Uint8Array {
    this.#chargeRandomness(epoch)
    return this.askNode(() => this.calls.machine.externs.chainRandomness(Number(epoch)))
  }

  beaconRandomness(epoch: bigint): Uint8Array {
    this.#chargeRandomness(epoch)
    return this.askNode(() => this.calls.machine.externs.beaconRandomness(Number(epoch)))
  }

  #chargeRandomness(epoch: bigint): void {
    const lookback = BigInt(this.calls.machine.context.epoch) - epoch
    if (lookback >= 1n << 63n) {
      throw new SyscallError(Errno.IllegalArgument, `randomness epoch ${epoch} is in the future`)
    }
    this.calls.gas.apply(this.calls.prices.onRandomness(0, lookback < 0n ? ENDLESS : Number(lookback)))
  }

  chainRandomnessTagged(tag: bigint, epoch: bigint, entropy: Uint8Array): Uint8Array {
    this.apply(this.calls.prices.onRandomness(entropy.length, 0))
    const digest = this.askNode(() => this.calls.machine.externs.chainRandomness(Number(epoch)))
    return drawRandomnessFromDigest(digest, Number(tag), Number(epoch), entropy)
  }

  beaconRandomnessTagged(tag: bigint, epoch: bigint, entropy: Uint8Array): Uint8Array {
    this.apply(this.calls.prices.onRandomness(entropy.length, 0))
    const digest = this.askNode(() => this.calls.machine.externs.beaconRandomness(Number(epoch)))
    return drawRandomnessFromDigest(digest, Number(tag), Number(epoch), entropy)
  }

  emitEvent(entries: readonly EventEntryHeader[], keys: Uint8Array, values: Uint8Array): void {
    this.refuseReadOnly('cannot emit events while read-only')
    this.calls.gas.apply(this.calls.prices.onEvent(entries.length, keys.length, values.length))
    this.calls.eventLog.append({ emitter: this.actorId, entries: parseEvent(entries, keys, values) })
  }

  emitEventCbor(event: Uint8Array): void {
    this.refuseReadOnly('cannot emit events while read-only')
    this.calls.gas.apply(this.calls.prices.onEventValidate(event.length))
    if (event.length > MAX_EVENT_BYTES) throw new SyscallError(Errno.IllegalArgument, 'event WAY too large')
    const entries = decodeEvent(event.slice())
    this.calls.gas.apply(this.calls.prices.onEventAccept(event.length))
    this.calls.eventLog.append({ emitter: this.actorId, entries })
  }
}
