import { PetrelError } from '../../base/errors.ts'

/**
 * - `WASM_MALFORMED`: not a valid module.
 * - `WASM_REFUSED`: valid, but the reference refuses it: an instruction, a section or an import that no actor may have.
 * - `WASM_TOO_LARGE`: more memory or table than an instance may start with.
 * - `NOT_COMPILED`: this runtime only compiles ahead of time, and nobody did.
 */
export type WasmErrorCode = 'WASM_MALFORMED' | 'WASM_REFUSED' | 'WASM_TOO_LARGE' | 'NOT_COMPILED'

/** Errors of preparing an actor's code. Inside the machine every one of them is fatal to the message. */
export class WasmError extends PetrelError<WasmErrorCode> {}
