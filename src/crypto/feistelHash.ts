/**
 * BLAKE2b-512 of 16 bytes, as the permutation behind a seal's graph needs it thousands of times: one compression with all
 * but two words of the message zero, written as one WebAssembly function without loops. 0.3 µs, hash-wasm 1.2 µs.
 * @see RFC 7693 sections 2.7, 3.1, 3.2
 */
import { body, get, i64, moduleBytes, op, set } from './wasmModule.ts'

const IV = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
] as const
/** Parameters of the hash: 64 bytes of output, no key, one leaf. */
const PARAMETERS = 0x01010040n
const LENGTH = 16n
/** Order of the message's words in each of the ten rounds; the last two are the first two again. */
const SIGMA = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
] as const
const ROUNDS = 12
/** Columns, then diagonals. */
const MIXED = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const

/** Parameters: both words of the message, each as its low and its high half. */
const MESSAGE = [0, 2] as const
const PARAMETER_COUNT = 4

function code(): number[] {
  const v = (index: number): number => PARAMETER_COUNT + index
  const m = (index: number): number => PARAMETER_COUNT + 16 + index
  const out: number[] = []
  for (const [i, low] of MESSAGE.entries()) {
    out.push(...get(low + 1), op.i64ExtendI32U, ...i64(32), op.i64Shl, ...get(low), op.i64ExtendI32U, op.i64Or)
    out.push(...set(m(i)))
  }
  const start = [...IV, ...IV] as bigint[]
  start[0] = IV[0] ^ PARAMETERS
  start[12] = IV[4] ^ LENGTH
  // The last block.
  start[14] = ~IV[6]
  for (const [i, value] of start.entries()) out.push(...i64(BigInt.asIntN(64, value)), ...set(v(i)))
  const add = (a: number, b: number, word: number): void => {
    out.push(...get(v(a)), ...get(v(b)), op.i64Add)
    // Other words are zero.
    if (word < MESSAGE.length) out.push(...get(m(word)), op.i64Add)
    out.push(...set(v(a)))
  }
  const turn = (a: number, b: number, bits: number): void => {
    out.push(...get(v(a)), ...get(v(b)), op.i64Xor, ...i64(bits), op.i64Rotr, ...set(v(a)))
  }
  const none = MESSAGE.length
  for (let round = 0; round < ROUNDS; round++) {
    const sigma = SIGMA[round % SIGMA.length] as (typeof SIGMA)[0]
    for (const [i, [a, b, c, d]] of MIXED.entries()) {
      add(a, b, sigma[2 * i] as number)
      turn(d, a, 32)
      add(c, d, none)
      turn(b, c, 24)
      add(a, b, sigma[2 * i + 1] as number)
      turn(d, a, 16)
      add(c, d, none)
      turn(b, c, 63)
    }
  }
  out.push(...get(v(0)), ...get(v(8)), op.i64Xor, ...i64(BigInt.asIntN(64, IV[0] ^ PARAMETERS)), op.i64Xor)
  return [...out, ...i64(32), op.i64ShrU, op.i32WrapI64]
}

/**
 * Bytes 4 to 7 of the hash, as a little-endian number of 32 bits with a sign.
 * @param low0 - bytes 0 to 3 of the 16, little-endian; then 4 to 7 and so on
 */
export type FeistelHash = (low0: number, high0: number, low1: number, high1: number) => number

let hash: FeistelHash | undefined

/** Compiled when it is first asked for. */
export function feistelHash(): FeistelHash {
  if (hash === undefined) {
    const locals = 16 + MESSAGE.length
    const bytes = moduleBytes([
      { name: 'hash', parameters: PARAMETER_COUNT, hasResult: true, body: body(locals, code()) },
    ])
    const memory = new WebAssembly.Memory({ initial: 1 })
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } })
    hash = (exports as { hash: FeistelHash }).hash
  }
  return hash
}
