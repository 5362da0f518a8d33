/**
 * BLAKE2Xs without key and with unknown output length: as many bytes as are asked for. noble's BLAKE2s takes no tree
 * parameters, hence the compression function here.
 * @see https://www.blake2.net/blake2x.pdf; RFC 7693; golang.org/x/crypto/blake2s blake2x.go
 */
import { BLAKE2_MIXES, BLAKE2_SIGMA } from './blake2Rounds.ts'

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
const ROUNDS = 10

const IV: readonly number[] = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by))
}

function compress(h: Uint32Array, block: Uint8Array, counted: number, last: boolean): void {
  const view = new DataView(block.buffer, block.byteOffset, BLOCK_BYTES)
  const v = new Uint32Array(16)
  v.set(h)
  v.set(IV, 8)
  v[12] = (v[12] as number) ^ counted
  v[13] = (v[13] as number) ^ Math.floor(counted / 2 ** 32)
  if (last) v[14] = ~(v[14] as number)
  for (let round = 0; round < ROUNDS; round++) {
    const order = BLAKE2_SIGMA[round] as readonly number[]
    for (let i = 0; i < BLAKE2_MIXES.length; i++) {
      const [a, b, c, d] = BLAKE2_MIXES[i] as readonly [number, number, number, number]
      const x = view.getUint32(4 * (order[2 * i] as number), true)
      const y = view.getUint32(4 * (order[2 * i + 1] as number), true)
      v[a] = (v[a] as number) + (v[b] as number) + x
      v[d] = rotate((v[d] as number) ^ (v[a] as number), 16)
      v[c] = (v[c] as number) + (v[d] as number)
      v[b] = rotate((v[b] as number) ^ (v[c] as number), 12)
      v[a] = (v[a] as number) + (v[b] as number) + y
      v[d] = rotate((v[d] as number) ^ (v[a] as number), 8)
      v[c] = (v[c] as number) + (v[d] as number)
      v[b] = rotate((v[b] as number) ^ (v[c] as number), 7)
    }
  }
  for (let i = 0; i < 8; i++) h[i] = (h[i] as number) ^ (v[i] as number) ^ (v[i + 8] as number)
}

/** BLAKE2s with a parameter block of 32 bytes; 32 bytes. */
function blake2s(parameters: Uint8Array, data: Uint8Array): Uint8Array {
  const view = new DataView(parameters.buffer, parameters.byteOffset, DIGEST_BYTES)
  const h = new Uint32Array(8)
  for (let i = 0; i < 8; i++) h[i] = (IV[i] as number) ^ view.getUint32(4 * i, true)
  let at = 0
  for (; at + BLOCK_BYTES < data.length; at += BLOCK_BYTES) {
    compress(h, data.subarray(at, at + BLOCK_BYTES), at + BLOCK_BYTES, false)
  }
  const rest = new Uint8Array(BLOCK_BYTES)
  rest.set(data.subarray(at))
  compress(h, rest, data.length, true)
  const out = new Uint8Array(DIGEST_BYTES)
  const words = new DataView(out.buffer)
  for (let i = 0; i < 8; i++) words.setUint32(4 * i, h[i] as number, true)
  return out
}

/** The first `length` bytes of the stream over `data`. */
export function blake2xs(data: Uint8Array, length: number): Uint8Array {
  const parameters = new Uint8Array(DIGEST_BYTES)
  parameters[0] = DIGEST_BYTES
  parameters[2] = 1
  parameters[3] = 1
  parameters[12] = 0xff
  parameters[13] = 0xff
  const root = blake2s(parameters, data)
  parameters[2] = 0
  parameters[3] = 0
  parameters[4] = DIGEST_BYTES
  parameters[15] = DIGEST_BYTES
  const words = new DataView(parameters.buffer)
  const out = new Uint8Array(length)
  for (let at = 0, block = 0; at < length; at += DIGEST_BYTES, block++) {
    words.setUint32(8, block, true)
    out.set(blake2s(parameters, root).subarray(0, length - at), at)
  }
  return out
}
