import type { Kernel } from '../../../src/fvm/kernel/kernel.ts'
import { OutOfGas } from '../../../src/fvm/kernel/outcomes.ts'

/** The part of a kernel that the engine itself uses, with everything charged written down; `rest` is all the others. */
export class FakeKernel {
  readonly charges: string[] = []
  available: number
  used = 0
  lastError: unknown
  readonly #maxMemory: number

  constructor(milligas = 1e12, maxMemory = 2 ** 31) {
    this.available = milligas
    this.#maxMemory = maxMemory
  }

  chargeGas(name: string, milligas: number): void {
    this.charges.push(`${name} ${milligas}`)
    if (milligas > this.available) {
      this.available = 0
      throw new OutOfGas()
    }
    this.available -= milligas
  }

  milligasAvailable(): number {
    return this.available
  }

  gasAvailable(): bigint {
    return BigInt(Math.floor(this.available / 1000))
  }

  memoryUsed(): number {
    return this.used
  }

  growMemory(bytes: number): boolean {
    if (this.used + bytes > this.#maxMemory) return false
    this.used += bytes
    return true
  }

  /** As a kernel with these operations besides its own. */
  with(rest: Partial<Kernel> = {}): Kernel {
    return Object.assign(this, rest) as unknown as Kernel
  }
}
