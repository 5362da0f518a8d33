/** Actors, addresses and readings that tests of calls share. */
import { CODEC_CBOR } from '../../../src/codec/cid.ts'
import type { ApplyResult } from '../../../src/fvm/executor.ts'
import type { Kernel } from '../../../src/fvm/kernel/kernel.ts'
import { SyscallError } from '../../../src/fvm/kernel/outcomes.ts'
import type { ExecutionTrace } from '../../../src/fvm/trace.ts'
import { delegatedAddress, idAddress, secp256k1Address } from '../../../src/types/address.ts'
import { TEST_ACTOR } from './tinyMachine.ts'

/** The actor that a test gives its methods. */
export const SELF = idAddress(TEST_ACTOR)
/** Another actor. */
export const OTHER = 201n
/** An address that a first send makes an account of. */
export const KEY_ADDRESS = secp256k1Address(new Uint8Array(65).fill(4))
/** An address that a first send makes a placeholder of. */
export const ETH_ADDRESS = delegatedAddress(10n, new Uint8Array(20).fill(7))

/** The number of the syscall error that `run` ends with, 0 without. */
export function errnoOf(run: () => unknown): number {
  try {
    run()
  } catch (error) {
    if (error instanceof SyscallError) return error.errno
    throw error
  }
  return 0
}

/** Names of what was charged, in order. */
export function names(trace: ExecutionTrace | undefined): string[] {
  return (trace?.gasCharges ?? []).map(({ name }) => name)
}

/** A handle to a block of these bytes. */
export function byteBlock(kernel: Kernel, ...bytes: number[]): number {
  return kernel.blockCreate(CODEC_CBOR, Uint8Array.from(bytes))
}

/** The bytes that a message returned. */
export function returned(result: ApplyResult): number[] {
  return [...result.receipt.return]
}
