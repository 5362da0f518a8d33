/**
 * BLAKE2b-512 of 16 bytes, as the permutation behind a seal's graph needs it thousands of times: one compression with all
 * but two words of the message zero, written as one WebAssembly function without loops. 0.3 µs, hash-wasm 1.2 µs.
 * @see RFC 7693 sections 2.7, 3.1, 3.2
 */
import { BLAKE2_MIXES, BLAKE2_SIGMA } from './blake2Rounds.ts'
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
const ROUNDS = 12
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
    const sigma = BLAKE2_SIGMA[round % BLAKE2_SIGMA.length] as readonly number[]
    for (const [i, [a, b, c, d]] of BLAKE2_MIXES.entries()) {
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
