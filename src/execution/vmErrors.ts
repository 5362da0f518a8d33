/** Failures of the machine on their way to another thread, class and code kept. */
import { BaseError, type ErrorInfo, errorMessage, PetrelError } from '../base/errors.ts'
import { ChainError } from '../chain/errors.ts'
import type { Cid } from '../codec/cid.ts'
import { CodecError } from '../codec/errors.ts'
import { VmError } from '../fvm/errors.ts'
import { WasmError } from '../fvm/wasm/errors.ts'
import { BlockMissing, IpldError } from '../ipld/errors.ts'
import { NetworkError } from '../networks/errors.ts'
import { StateError } from '../state/errors.ts'

type ErrorClass = new (code: never, message: string, info?: ErrorInfo) => PetrelError

/** Classes that callers tell apart. */
const CLASSES: ReadonlyMap<string, ErrorClass> = new Map<string, ErrorClass>(
  [BaseError, ChainError, CodecError, IpldError, NetworkError, StateError, VmError, WasmError].map((errorClass) => [
    errorClass.name,
    errorClass as ErrorClass,
  ]),
)

/** An error as a plain value. */
export interface PlainError {
  readonly name: string
  /** Empty when it was no {@link PetrelError}: a bug. */
  readonly code: string
  readonly message: string
  readonly info: ErrorInfo
  readonly stack: string
  /** Of {@link BlockMissing}. */
  readonly missing: readonly Cid[] | null
}

/** Takes any thrown value apart. */
export function plainError(error: unknown): PlainError {
  const known = error instanceof PetrelError ? (error as PetrelError) : undefined
  return {
    name: known?.name ?? '',
    code: known?.code ?? '',
    message: errorMessage(error),
    info: known?.info ?? {},
    stack: error instanceof Error ? (error.stack ?? '') : '',
    missing: error instanceof BlockMissing ? error.cids : null,
  }
}

/** The error again: of its own class where callers know it, with the other thread's stack. */
export function thrownError(plain: PlainError): Error {
  const error = rebuilt(plain)
  if (plain.stack !== '') error.stack = plain.stack
  return error
}

function rebuilt({ name, code, message, info, missing }: PlainError): Error {
  if (missing !== null) return new BlockMissing(missing)
  if (code === '') return new VmError('HOST_FAILED', message)
  const Class = CLASSES.get(name)
  return Class === undefined ? new PetrelError(code, message, info) : new Class(code as never, message, info)
}
