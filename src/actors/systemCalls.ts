/**
 * System calls as an actor's SDK makes them: each with the estimate of instructions before it, its failure remembered as
 * the backtrace's cause.
 * @see ref-fvm sdk/src
 */
import { type Cid, CODEC_DAG_CBOR, HASH_BLAKE2B_256 } from '../codec/cid.ts'
import { SYSCALL_MILLIGAS } from '../fvm/gas/prices.ts'
import type { Kernel } from '../fvm/kernel/kernel.ts'
import { ERRNO_TEXT, type Errno, Errno as Errors, SyscallError } from '../fvm/kernel/outcomes.ts'
import { Exit } from '../types/exitCodes.ts'
import { ActorError, type ExitData } from './errors.ts'
import type { BlockFeature, WasmGas } from './wasmGas.ts'

/** What the reference's panics become. */
export function panic(message: string): ActorError {
  return new ActorError(Exit.USR_ASSERTION_FAILED, message)
}

/** The system calls of one invocation. */
export class SystemCalls {
  readonly #kernel: Kernel
  /** The estimate of Wasm instructions since the last system call. */
  readonly gas: WasmGas

  constructor(kernel: Kernel, gas: WasmGas) {
    this.#kernel = kernel
    this.gas = gas
  }

  /** The instructions since the last system call, without one. */
  charge(): void {
    this.gas.charge(this.#kernel)
  }

  /** The method begins. */
  start(): void {
    this.gas.start(this.#kernel)
  }

  /** The instructions up to here, then one system call. Its failure is remembered as the backtrace's cause. */
  syscall<T>(module: string, name: string, run: (kernel: Kernel) => T): T {
    const kernel = this.#kernel
    this.gas.charge(kernel)
    kernel.chargeGas('OnSyscall', SYSCALL_MILLIGAS)
    try {
      const result = run(kernel)
      kernel.lastError = undefined
      return result
    } catch (error) {
      if (error instanceof SyscallError) {
        kernel.lastError = { module, function: name, errno: error.errno, message: error.message }
      }
      throw error
    }
  }

  /** A syscall error that the SDK does not expect is a panic there. */
  orPanic<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (error instanceof SyscallError) throw panic(error.message)
      throw error
    }
  }

  /** Instructions for a block that was decoded or encoded: some per block, some per byte. */
  worked(what: BlockFeature, length: number): void {
    this.gas.add(what)
    this.gas.add(`${what}Byte`, length)
  }

  /** A block for another actor or the state. @returns its handle */
  createBlock(block: ExitData): number {
    return this.syscall('ipld', 'block_create', (kernel) => kernel.blockCreate(block.codec, block.bytes))
  }

  /** The bytes of a block. */
  readBlock(handle: number, size: number): Uint8Array {
    const out = new Uint8Array(size)
    this.gas.add('read')
    this.syscall('ipld', 'block_read', (kernel) => kernel.blockRead(handle, 0, out))
    return out
  }

  /** The result; undefined when the system call finds nothing. */
  orMissing<T>(run: () => T): T | undefined {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof SyscallError)) throw error
      if (error.errno === Errors.NotFound) return undefined
      throw panic(`unexpected syscall failure: ${error.message}`)
    }
  }

  /** A block of the state. @throws ActorError USR_ILLEGAL_STATE when it cannot be had */
  getBlock(cid: Cid, what: BlockFeature): Uint8Array {
    try {
      const { handle, size } = this.syscall('ipld', 'block_open', (kernel) => kernel.blockOpen(cid))
      const data = this.readBlock(handle, size)
      this.worked(what, size)
      return data
    } catch (error) {
      if (error instanceof SyscallError) {
        throw new ActorError(
          Exit.USR_ILLEGAL_STATE,
          `get failed with ${ERRNO_TEXT[error.errno]} on CID '${cid.toString()}'`,
        )
      }
      throw error
    }
  }

  /** Puts a block into the state. @throws ActorError USR_ILLEGAL_STATE */
  putBlock(bytes: Uint8Array, what: BlockFeature): Cid {
    this.worked(what, bytes.length)
    try {
      const handle = this.createBlock({ codec: CODEC_DAG_CBOR, bytes })
      this.gas.add('link')
      return this.syscall('ipld', 'block_link', (kernel) => kernel.blockLink(handle, HASH_BLAKE2B_256, 32))
    } catch (error) {
      if (error instanceof SyscallError) {
        throw new ActorError(Exit.USR_ILLEGAL_STATE, `put failed with ${ERRNO_TEXT[error.errno]}`)
      }
      throw error
    }
  }

  /** A hash by its multihash code. */
  hash(code: bigint, data: Uint8Array): Uint8Array {
    return this.orPanic(() => this.syscall('crypto', 'hash', (kernel) => kernel.hash(code, data)))
  }
}

/** The error of a call that was not made. @see builtin-actors v18 runtime/src/builtin/shared.rs From<SendError> for ActorError */
export function sendError(errno: Errno): ActorError {
  switch (errno) {
    case Errors.NotFound:
      return new ActorError(Exit.USR_UNSPECIFIED, 'receiver not found')
    case Errors.InsufficientFunds:
      return new ActorError(Exit.USR_INSUFFICIENT_FUNDS, 'not enough funds')
    case Errors.LimitExceeded:
      return panic('recursion limit exceeded')
    case Errors.ReadOnly:
      return new ActorError(Exit.USR_READ_ONLY, 'attempted to mutate state while in readonly mode')
    default:
      return panic(`unexpected error: ${ERRNO_TEXT[errno]}`)
  }
}
