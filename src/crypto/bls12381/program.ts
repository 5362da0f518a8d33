/**
 * Functions of the module that only call others: formulas over fields, with temporary elements at fixed places of the
 * memory (so nothing here is re-entrant).
 */
import { CryptoError } from '../errors.ts'
import { body, type Code, get, i32, op, unsigned, type WasmFunction } from '../wasmModule.ts'
import { PAIR_BYTES } from './limbs.ts'

/** An element in memory: behind a parameter, or at a fixed offset. */
export interface Place {
  readonly parameter: number | undefined
  readonly offset: number
}

/** The element so many bytes behind. */
export function behind(place: Place, bytes: number): Place {
  return { parameter: place.parameter, offset: place.offset + bytes }
}

/** Element `index` of Fp2 in a row of them. */
export function pairAt(place: Place, index: number): Place {
  return behind(place, index * PAIR_BYTES)
}

function pointer({ parameter, offset }: Place): Code {
  if (parameter === undefined) return i32(offset)
  return offset === 0 ? get(parameter) : [...get(parameter), ...i32(offset), op.i32Add]
}

/** Calls a function of the module. */
export type Call = (name: string, ...places: readonly Place[]) => void

/**
 * Writes one function's calls.
 * @param temporary - a new place for so many elements of Fp2
 * @param emit - writes other instructions
 */
export type Formula = (
  call: Call,
  parameters: readonly Place[],
  temporary: (pairs?: number) => Place,
  emit: (code: Code) => void,
) => void

/** A module in the making: its functions so far, and the memory that they use for themselves. */
export class ModuleProgram {
  readonly functions: WasmFunction[] = []
  readonly #indices = new Map<string, number>()
  /** Bytes in use. */
  used = 0

  add(added: WasmFunction): void {
    this.#indices.set(added.name, this.functions.length)
    this.functions.push(added)
  }

  /** A place for so many elements of Fp2. */
  reserve(pairs: number): Place {
    const place = { parameter: undefined, offset: this.used }
    this.used += pairs * PAIR_BYTES
    return place
  }

  has(name: string): boolean {
    return this.#indices.has(name)
  }

  indexOf(name: string): number {
    const index = this.#indices.get(name)
    if (index === undefined) throw new CryptoError('BACKEND_FAILED', `Cannot make BLS12-381: no function ${name}`)
    return index
  }

  define(name: string, parameters: number, formula: Formula, hasResult = false): void {
    const code: number[] = []
    const call: Call = (callee, ...places) => {
      code.push(...places.flatMap(pointer), op.call, ...unsigned(this.indexOf(callee)))
    }
    const places = Array.from({ length: parameters }, (_, i) => ({ parameter: i, offset: 0 }))
    const temporary = (pairs = 1): Place => this.reserve(pairs)
    formula(call, places, temporary, (other) => code.push(...other))
    this.add({ name, parameters, hasResult, body: body(0, code) })
  }
}
