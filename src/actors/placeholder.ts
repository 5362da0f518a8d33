/**
 * The placeholder actor: holds an f410 address until somebody claims it; takes every call and does nothing.
 * @see builtin-actors v18 actors/placeholder/src/lib.rs
 */
import type { ActorCode } from '../fvm/kernel/kernel.ts'
import { WasmGas } from './wasmGas.ts'

/** Pages of memory that its module declares. */
const PAGES = 16

/** The placeholder actor. Makes no system call at all. */
export function createPlaceholderCode(): ActorCode {
  return {
    invoke: (kernel) => {
      const gas = new WasmGas(PAGES)
      gas.start(kernel)
      gas.add('placeholder')
      gas.charge(kernel)
      return 0
    },
  }
}
