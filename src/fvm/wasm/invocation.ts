import { SYSCALL_MILLIGAS } from '../gas/prices.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { Errno, FatalError, SyscallError } from '../kernel/outcomes.ts'
import { ActorMemory } from './actorMemory.ts'
import { PAGE_BYTES, TABLE_ELEMENT_BYTES } from './interfaceNames.ts'
import type { ModuleInfo } from './moduleInfo.ts'
import type { InstrumentationRules } from './rules.ts'
import { isAbort } from './runEnd.ts'
import type { SyscallContext, SyscallRow } from './syscalls/row.ts'
import type { WasmGlobal } from './webAssembly.ts'

/** There is no room for a syscall's result where the module wants it. */
export const NO_ROOM = -1

/**
 * One run of an actor: keeps the module's gas counter and the machine's gas in step.
 *
 * The counter (milligas, one global for all instances of an engine) is written before the module runs and after every
 * syscall, and read before every syscall and at the end. Nested runs overwrite it; the syscall that caused them writes
 * it again before the outer module goes on.
 * @see ref-fvm fvm/src/syscalls/mod.rs
 */
export class Invocation implements SyscallContext<Kernel> {
  readonly kernel: Kernel
  readonly memory: ActorMemory = new ActorMemory()
  readonly #info: ModuleInfo
  readonly #rules: InstrumentationRules
  readonly #counter: WasmGlobal
  /** what a syscall threw that is no outcome of the actor */
  hostFailure: { readonly error: unknown } | undefined
  #budget: WasmGlobal | undefined
  #budgetAtStart = 0n
  #lastGas = 0
  #lastMemoryBytes = 0

  constructor(kernel: Kernel, info: ModuleInfo, rules: InstrumentationRules, counter: WasmGlobal) {
    this.kernel = kernel
    this.#info = info
    this.#rules = rules
    this.#counter = counter
    if (this.#limited) this.#lastMemoryBytes = kernel.memoryUsed()
  }

  /** FVM 2 neither limits nor prices memory by itself. */
  get #limited(): boolean {
    return this.#rules.linear !== undefined
  }

  /**
   * Charges for the memory and the exported table that the instance starts with.
   * @see `charge_for_init`
   */
  chargeForInit(): void {
    const { linear } = this.#rules
    const { memoryPages, exportedTableElements } = this.#info
    if (linear === undefined) return
    if (memoryPages === undefined) throw new FatalError('actor has no memory export')
    const bytes = memoryPages * PAGE_BYTES
    this.#lastMemoryBytes += bytes
    if (exportedTableElements !== undefined) {
      this.kernel.chargeGas('wasm_table_init', exportedTableElements * linear.tableElements)
    }
    this.kernel.chargeGas('wasm_memory_init', bytes * linear.memoryBytes)
  }

  /**
   * Counts the instance's first memory and tables against the message's limit.
   * @returns whether they fit
   */
  reserve(): boolean {
    if (!this.#limited) return true
    const memory = (this.#info.memoryPages ?? 0) * PAGE_BYTES
    if (!this.kernel.growMemory(memory)) return false
    const tables = this.#info.tableElements * TABLE_ELEMENT_BYTES
    return tables === 0 || this.kernel.growMemory(tables)
  }

  /** Lets the instance grow by what its message has left. */
  setBudget(budget: WasmGlobal, maxMessageBytes: number): void {
    this.#budget = budget
    this.#budgetAtStart = BigInt(this.#limited ? maxMessageBytes - this.kernel.memoryUsed() : Number.MAX_SAFE_INTEGER)
    budget.value = this.#budgetAtStart
  }

  /** Whether memory could not grow although the limits allow it: the host's failure. */
  get hostOutOfMemory(): boolean {
    return this.#budget !== undefined && this.#budget.value < 0n
  }

  /** Tells the limiter how much the instance has grown. */
  #countGrowth(): void {
    if (this.#budget === undefined || !this.#limited) return
    const grown = Number(this.#budgetAtStart - this.#budget.value)
    if (grown <= 0) return
    this.#budgetAtStart = this.#budget.value
    this.kernel.growMemory(grown)
  }

  /**
   * Charges what the module executed since the last {@link updateGasAvailable}.
   * @see `charge_for_exec`
   */
  chargeForExec(): void {
    const counter = Number(this.#counter.value)
    const { linear } = this.#rules
    if (linear === undefined) {
      const used = this.#lastGas - counter
      this.#lastGas = counter
      this.kernel.chargeGas('wasm_exec', used)
      return
    }
    this.#countGrowth()
    // Below zero the module ran out: charge more than there is left.
    let exec = counter < 0 ? this.#lastGas - counter : Math.max(0, this.#lastGas - counter)
    const grownBytes = Math.max(0, this.kernel.memoryUsed() - this.#lastMemoryBytes)
    let memory = grownBytes * linear.memoryBytes
    if (memory <= exec) {
      exec -= memory
    } else {
      memory = exec
      exec = 0
    }
    this.kernel.chargeGas('wasm_exec', exec)
    if (memory !== 0) this.kernel.chargeGas('wasm_memory_grow', memory)
  }

  /**
   * Shows the module what gas is left.
   * @see `update_gas_available`
   */
  updateGasAvailable(): void {
    const available = this.kernel.milligasAvailable()
    this.#counter.value = BigInt(available)
    this.#lastGas = available
    if (this.#limited) this.#lastMemoryBytes = this.kernel.memoryUsed()
  }

  /**
   * What every syscall begins with. The order of these three is consensus: execution gas, the syscall's own, room for the
   * result; then the call, the result, the counter. Without room the reference leaves and does not refresh the counter, so
   * what was executed before is charged once more by the next charge.
   * @param first - the import's first argument: the address of the result where there is one
   * @returns the result's address, or {@link NO_ROOM}
   * @see ref-fvm fvm/src/syscalls/linker.rs `impl_syscall`
   */
  beginSyscall(row: SyscallRow, first: unknown): number {
    this.chargeForExec()
    this.kernel.chargeGas('OnSyscall', SYSCALL_MILLIGAS)
    const { memory } = this
    memory.refresh()
    const { resultSize } = row
    if (resultSize === 0) return 0
    const resultAt = (first as number) >>> 0
    if (resultAt + resultSize <= memory.bytes.length) return resultAt
    this.#noteFailure(row, Errno.IllegalArgument, 'no space for return value')
    return NO_ROOM
  }

  /** Writes what a syscall gave. */
  endSyscall(row: SyscallRow, resultAt: number, value: unknown): void {
    if (row.resultSize > 0) {
      this.memory.refresh()
      row.write(this.memory.view, resultAt, value as never)
    }
    this.kernel.lastError = undefined
  }

  /**
   * Takes what a syscall threw: an error of its own is the number that the module gets.
   * @throws everything else, noted as the host's failure where it is no outcome of the actor
   */
  failSyscall(row: SyscallRow, error: unknown): Errno {
    if (error instanceof SyscallError) {
      this.#noteFailure(row, error.errno, error.message)
      return error.errno
    }
    if (isAbort(error)) this.updateGasAvailable()
    else this.hostFailure = { error }
    throw error
  }

  #noteFailure({ module, name }: SyscallRow, errno: Errno, message: string): void {
    this.kernel.lastError = { module, function: name, errno, message }
  }
}
