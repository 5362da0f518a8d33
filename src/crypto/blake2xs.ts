/**
 * BLAKE2Xs without key and with unknown output length: as many bytes as are asked for. noble's BLAKE2s takes no tree
 * parameters, hence the compression function here.
 * @see https://www.blake2.net/blake2x.pdf; RFC 7693; golang.org/x/crypto/blake2s blake2x.go
 */

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
const ROUNDS = 10

const IV: readonly number[] = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]

const SIGMA: readonly (readonly number[])[] = [
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
]

/** Positions in the work vector of the eight mixes of a round. */
const MIXES: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
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
    const order = SIGMA[round] as readonly number[]
    for (let i = 0; i < MIXES.length; i++) {
      const [a, b, c, d] = MIXES[i] as readonly [number, number, number, number]
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
