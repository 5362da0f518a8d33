/**
 * mcl-wasm, compiled once and set up as Filecoin needs it; signatures (`blsMcl.ts`) call its exported functions on its own
 * memory.
 * @see herumi/mcl include/mcl/bn.h (the C interface that mcl-wasm exports)
 */
import { CryptoError } from './errors.ts'

/** The exported functions in use; a pointer is an offset in the module's memory. */
export interface Mcl {
  _malloc(size: number): number
  _mclBnG1_setDst(text: number, length: number): number
  _mclBnG2_setDst(text: number, length: number): number
  _mclBnFr_setLittleEndian(out: number, bytes: number, length: number): number
  _mclBnFr_isZero(x: number): number
  _mclBnFr_serialize(out: number, max: number, x: number): number
  _mclBnFr_clear(x: number): void
  _mclBnG1_deserialize(out: number, bytes: number, length: number): number
  _mclBnG1_serialize(out: number, max: number, x: number): number
  _mclBnG1_hashAndMapTo(out: number, bytes: number, length: number): number
  _mclBnG1_isZero(x: number): number
  _mclBnG1_neg(out: number, x: number): void
  _mclBnG1_clear(x: number): void
  _mclBnG1_add(out: number, x: number, y: number): void
  _mclBnG1_mul(out: number, x: number, k: number): void
  _mclBnG1_mulCT(out: number, x: number, k: number): void
  _mclBnFp_setLittleEndian(out: number, bytes: number, length: number): number
  _mclBnFp_setInt32(out: number, value: number): void
  _mclBnG2_clear(x: number): void
  _mclBnG2_isValid(x: number): number
  _mclBnG2_deserialize(out: number, bytes: number, length: number): number
  _mclBnG2_serialize(out: number, max: number, x: number): number
  _mclBnG2_hashAndMapTo(out: number, bytes: number, length: number): number
  _mclBnG2_isZero(x: number): number
  _mclBnG2_add(out: number, x: number, y: number): void
  _mclBnG2_mulCT(out: number, x: number, k: number): void
  _mclBnG2_mulVec(out: number, points: number, scalars: number, count: number): void
  _mclBnGT_mul(out: number, x: number, y: number): void
  _mclBnGT_isOne(x: number): number
  _mclBn_millerLoopVec(out: number, g1s: number, g2s: number, count: number): void
  _mclBn_finalExp(out: number, x: number): void
}

/** Sizes of mcl's in-memory points for a 384-bit field: 3 coordinates of 48 bytes, twice and twelve times that. */
export const FR_BYTES = 32
export const FP_BYTES = 48
export const G1_BYTES = 144
export const G2_BYTES = 288
export const GT_BYTES = 576

/** The module, its memory (whose buffer is another one after growth), and its reader of hexadecimal. */
export interface LoadedMcl {
  readonly mcl: Mcl
  readonly memory: { buffer: ArrayBuffer }
  readonly fromHex: (text: string) => Uint8Array
}

/** @throws CryptoError `BACKEND_FAILED` unless `ok` */
export function must(ok: boolean, what: string): void {
  if (!ok) throw new CryptoError('BACKEND_FAILED', `Cannot use mcl-wasm: ${what} failed`)
}

async function load(): Promise<LoadedMcl> {
  const module = await import('mcl-wasm')
  // A CommonJS package: some loaders put its exports under `default`.
  const mcl = 'default' in module ? (module.default as typeof module) : module
  await mcl.init(mcl.BLS12_381)
  mcl.setETHserialization(true)
  mcl.setMapToMode(mcl.IRTF)
  mcl.verifyOrderG1(true)
  mcl.verifyOrderG2(true)
  return { mcl: (mcl as unknown as { mod: Mcl }).mod, memory: mcl.getMemory(), fromHex: mcl.fromHexStr }
}

let loaded: Promise<LoadedMcl> | undefined

/** Compiles mcl: ZCash point encoding, IETF hash-to-curve, subgroup checks. Calling again waits for the first call. */
export function loadMcl(): Promise<LoadedMcl> {
  loaded ??= load()
  return loaded
}
