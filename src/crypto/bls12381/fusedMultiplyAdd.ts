import { at, body, get, moduleBytes, vector, vectorOp } from '../wasmModule.ts'

/** Doubles in the memory: a, then -(1 + 2 small); the result. */
const [A, SUM, RESULT] = [0, 16, 32] as const
const SMALL = 2 ** -30

/**
 * Whether WebAssembly multiplies and adds here with one rounding: `f64x2.relaxed_madd` may do either, but always the same.
 * Asked by a computation; false where the engine lacks the instruction.
 * @see WebAssembly core specification, "Relaxed operations"
 */
export function hasFusedMultiplyAdd(): boolean {
  const load = (offset: number): number[] => [...get(0), ...vectorOp(vector.load), ...at(offset)]
  const code = [
    ...get(0),
    ...[load(A), load(A), load(SUM)].flat(),
    ...vectorOp(vector.f64x2RelaxedMadd),
    ...[...vectorOp(vector.store), ...at(RESULT)],
  ]
  const bytes = moduleBytes([{ name: 'multiplyAdd', parameters: 1, body: body(0, code) }])
  if (!WebAssembly.validate(bytes)) return false
  const memory = new WebAssembly.Memory({ initial: 1 })
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } })
  const doubles = new Float64Array(memory.buffer)
  // (1 + small)^2 = 1 + 2 small + small^2, of which a double keeps all but the last.
  doubles.set([1 + SMALL, 1 + SMALL, -1 - 2 * SMALL, -1 - 2 * SMALL])
  ;(exports as { multiplyAdd: (place: number) => void }).multiplyAdd(0)
  return doubles[RESULT / 8] === SMALL * SMALL && doubles[RESULT / 8 + 1] === SMALL * SMALL
}
