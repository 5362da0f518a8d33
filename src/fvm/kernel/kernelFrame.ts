import { utf8 } from '../../base/bytes.ts'
import type { ActorId, MethodNum, TokenAmount } from '../../types/scalars.ts'
import { ExternFailure } from '../externs.ts'
import type { GasCharge } from '../gas/charge.ts'
import type { BlockRegistry } from './blockRegistry.ts'
import type { CallContext } from './callContext.ts'
import type { BacktraceCause, DebugOps, GasOps, LimiterOps } from './kernel.ts'
import { Errno, SyscallError } from './outcomes.ts'

const MAX_ARTIFACT_NAME = 256

/**
 * What every capability of a kernel rests on: the invocation, its gas, its memory, what a debugger hears.
 * @see ref-fvm fvm/src/kernel/default.rs, branches release/v2, release/v3, master
 */
export class KernelFrame implements GasOps, LimiterOps, DebugOps {
  readonly actorId: ActorId
  readonly method: MethodNum
  readonly blocks: BlockRegistry
  lastError: BacktraceCause | undefined
  protected readonly calls: CallContext
  protected readonly caller: ActorId
  protected readonly value: TokenAmount
  protected readonly readOnly: boolean

  /** @param blocks - holds the parameters already */
  constructor(
    calls: CallContext,
    blocks: BlockRegistry,
    caller: ActorId,
    actorId: ActorId,
    method: MethodNum,
    value: TokenAmount,
    readOnly: boolean,
  ) {
    this.calls = calls
    this.blocks = blocks
    this.caller = caller
    this.actorId = actorId
    this.method = method
    this.value = value
    this.readOnly = readOnly
  }

  protected apply(charge: GasCharge | undefined): void {
    if (charge !== undefined) this.calls.gas.apply(charge)
  }

  /** Charges of 0, which are there to be seen in traces. */
  protected applyFree(charge: GasCharge): void {
    if (this.calls.rules.tracesFreeSyscalls) this.calls.gas.apply(charge)
  }

  protected refuseReadOnly(message: string): void {
    if (this.readOnly) throw new SyscallError(Errno.ReadOnly, message)
  }

  /** What the node refuses is the actor's illegal argument. */
  protected askNode<T>(ask: () => T): T {
    try {
      return ask()
    } catch (error) {
      if (error instanceof ExternFailure) throw new SyscallError(Errno.IllegalArgument, error.message)
      throw error
    }
  }

  chargeGas(name: string, milligas: number): void {
    this.calls.gas.charge(name, milligas)
  }

  milligasAvailable(): number {
    return this.calls.gas.available
  }

  gasAvailable(): bigint {
    return this.calls.gas.availableGas
  }

  memoryUsed(): number {
    return this.calls.memoryUsed
  }

  growMemory(delta: number): boolean {
    return this.calls.growMemory(delta)
  }

  debugEnabled(): boolean {
    return this.calls.machine.context.actorDebugging
  }

  log(message: string): void {
    this.calls.traceLog(message)
  }

  /** Checks the name as the reference does; there is nowhere to store to. */
  storeArtifact(name: string, _data: Uint8Array): void {
    if (utf8(name).length > MAX_ARTIFACT_NAME) {
      throw new SyscallError(Errno.IllegalArgument, 'debug artifact name should not exceed 256 bytes')
    }
    if (name.includes('/')) {
      throw new SyscallError(Errno.IllegalArgument, 'debug artifact name should not include any path separators')
    }
    if (name === '') {
      throw new SyscallError(Errno.IllegalArgument, 'debug artifact name should be at least one character')
    }
    if (name.startsWith('.')) {
      throw new SyscallError(Errno.IllegalArgument, "debug artifact name should not start with a decimal '.'")
    }
  }
}
