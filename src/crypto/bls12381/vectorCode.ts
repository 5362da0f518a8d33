/** Field functions that are the same for limbs of either form, but for the instruction that adds them. */
import { at, body, EMPTY, get, i32, op, tee, vector, vectorOp } from '../wasmModule.ts'
import { ELEMENT_BYTES } from './limbs.ts'

const VECTOR_BYTES = 16
/** Parameters: out, a, b. */
const [OUT, A, B] = [0, 1, 2] as const

/** (out, a, b): limb by limb. */
export function vectorSum(bytes: number, instruction: number): number[] {
  const code: number[] = []
  for (let offset = 0; offset < bytes; offset += VECTOR_BYTES) {
    const load = [...vectorOp(vector.load), ...at(offset)]
    code.push(...get(OUT), ...get(A), ...load, ...get(B), ...load, ...vectorOp(instruction))
    code.push(...vectorOp(vector.store), ...at(offset))
  }
  return body(0, code)
}

/** (out, a): (a0 - a1) + (a0 + a1) u: times 1 + u. */
export function timesXi(plus: number, minus: number): number[] {
  const code: number[] = []
  const load = (offset: number): number[] => [...get(A), ...vectorOp(vector.load), ...at(offset)]
  const store = (offset: number): number[] => [...vectorOp(vector.store), ...at(offset)]
  // Both parts before either is stored: out may be a.
  for (let offset = 0; offset < ELEMENT_BYTES; offset += VECTOR_BYTES) {
    const [low, high] = [load(offset), load(offset + ELEMENT_BYTES)]
    code.push(...get(OUT), ...low, ...high, ...vectorOp(minus))
    code.push(...get(OUT), ...low, ...high, ...vectorOp(plus), ...store(offset + ELEMENT_BYTES))
    code.push(...store(offset))
  }
  return body(0, code)
}

/** (out, a, count): squares a so many times, at least once. @param square - index of the function that squares */
export function repeated(square: number): number[] {
  const count = B
  const step = (from: number): number[] => [...get(OUT), ...get(from), op.call, square]
  const next = [...get(count), ...i32(1), op.i32Sub, ...tee(count)]
  return body(0, [...step(A), ...next, op.if, EMPTY, op.loop, EMPTY, ...step(OUT), ...next, op.brIf, 0, op.end, op.end])
}
