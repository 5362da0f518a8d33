/**
 * Counts the gas of one message and records its charges.
 * @see ref-fvm fvm/src/gas/mod.rs GasTracker
 */

import { VmError } from '../errors.ts'
import { OutOfGas } from '../kernel/outcomes.ts'
import { type GasCharge, MILLIGAS } from './charge.ts'

/** The machine's largest limit, milligas: 2^63 - 1. Only implicit messages come near it. */
const MAX_LIMIT = (1n << 63n) - 1n
/**
 * Where counting in numbers ends, milligas: what lies above is kept aside as `excess`. No run of any length that a host
 * could wait for uses so much (4.5 * 10^12 gas).
 */
const COUNTABLE = 2 ** 52
const COUNTABLE_BIG = BigInt(COUNTABLE)
const MILLIGAS_BIG = BigInt(MILLIGAS)

/** Charges of late, by their amount: traces of like messages are the same charges over and over, each kept for long. */
const repeated: (GasCharge | undefined)[] = Array.from({ length: 4096 }, () => undefined)

/** A charge for computation alone, the object of an earlier one where that was the same. */
function repeatedCharge(name: string, compute: number): GasCharge {
  const slot = (compute ^ (compute >>> 12)) & 4095
  const known = repeated[slot]
  if (known !== undefined && known.name === name && known.compute === compute) return known
  const charge = { name, compute, storage: 0 }
  repeated[slot] = charge
  return charge
}

interface Snapshot {
  readonly limit: number
  readonly excess: bigint
  readonly used: number
}

/** Gas used and left, with lower limits while calls run that were given some. A charge beyond the limit uses all of it. */
export class GasTracker {
  #limit: number
  /** Milligas of the limit above {@link COUNTABLE}. */
  #excess: bigint
  #used = 0
  readonly #snapshots: Snapshot[] = []
  /** Where charges are recorded; undefined: nowhere. The call manager points it at the running call's trace. */
  record: GasCharge[] | undefined

  readonly #checkpoint: (() => void) | undefined

  /**
   * @param gasLimit - whole gas
   * @param checkpoint - called at each charge; what it throws ends the execution
   */
  constructor(gasLimit: bigint, checkpoint?: () => void) {
    this.#checkpoint = checkpoint
    const milligas = gasLimit * MILLIGAS_BIG
    const limit = milligas > MAX_LIMIT ? MAX_LIMIT : milligas
    this.#excess = limit > COUNTABLE_BIG ? limit - COUNTABLE_BIG : 0n
    this.#limit = Number(limit - this.#excess)
  }

  /** @throws OutOfGas, with all that was left used up */
  apply(charge: GasCharge): void {
    this.record?.push(charge)
    this.#use(charge.compute + charge.storage)
  }

  /** @throws OutOfGas, with all that was left used up */
  charge(name: string, milligas: number): void {
    this.record?.push(repeatedCharge(name, milligas))
    this.#use(milligas)
  }

  #use(milligas: number): void {
    this.#checkpoint?.()
    const used = this.#used + milligas
    if (used > this.#limit) {
      if (this.#excess > 0n) {
        throw new VmError('GAS_ACCOUNTING', 'not supported: an implicit message that uses more than 2^52 milligas')
      }
      this.#used = this.#limit
      throw new OutOfGas()
    }
    this.#used = used
  }

  /** Limits what follows to `gasLimit` whole gas, or to what is left. */
  pushLimit(gasLimit: bigint): void {
    this.#snapshots.push({ limit: this.#limit, excess: this.#excess, used: this.#used })
    const available = this.#limit - this.#used
    const wanted = gasLimit * MILLIGAS_BIG
    if (wanted < BigInt(available)) {
      this.#limit = Number(wanted)
      this.#excess = 0n
    } else {
      const excess = wanted - BigInt(available)
      if (excess < this.#excess) this.#excess = excess
      this.#limit = available
    }
    this.#used = 0
  }

  /** Ends the last {@link pushLimit}; what was used under it counts. */
  popLimit(): void {
    const snapshot = this.#snapshots.pop()
    if (snapshot === undefined) throw new VmError('GAS_ACCOUNTING', 'Cannot pop a gas limit: none was pushed')
    this.#limit = snapshot.limit
    this.#excess = snapshot.excess
    this.#used += snapshot.used
  }

  /** Milligas used under the present limit. */
  get used(): number {
    return this.#used
  }

  /** Milligas left, at most 2^52. */
  get available(): number {
    return this.#limit - this.#used
  }

  /** Whether no gas at all is left. */
  get isExhausted(): boolean {
    return this.#limit === this.#used && this.#excess === 0n
  }

  /** Whole gas left, rounded down. */
  get availableGas(): bigint {
    return (BigInt(this.#limit - this.#used) + this.#excess) / MILLIGAS_BIG
  }

  /** Whole gas left, rounded up. */
  get availableGasRoundedUp(): bigint {
    return (BigInt(this.#limit - this.#used) + this.#excess + MILLIGAS_BIG - 1n) / MILLIGAS_BIG
  }
}
