/** Numbers that look random and follow from a seed, an ID and a purpose alone: nothing has to be kept to have them again. */

/** What a number is for; each has a stream of its own. */
export const PURPOSE = {
  address: 1,
  delegated: 2,
  balance: 3,
  nonce: 4,
  sealed: 5,
  expiration: 6,
  slots: 7,
  storage: 8,
  piece: 9,
  signers: 10,
  code: 11,
  messages: 12,
} as const

const GOLDEN = 0x9e3779b9

/** MurmurHash3's last step: one to one on 32 bits. */
function mixed(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** 32 bits. @param at - which of the stream */
export function random32(seed: number, purpose: number, id: number, at = 0): number {
  const stream = mixed(seed ^ Math.imul(purpose, GOLDEN))
  return mixed(mixed(id ^ stream) + Math.imul(at, GOLDEN))
}

/**
 * Fills `out` from `start` on. The first four bytes are one to one with `id` (below 2^32): no two of a purpose are equal.
 */
export function fillRandom(out: Uint8Array, start: number, seed: number, purpose: number, id: number): void {
  const first = mixed(id ^ mixed(seed ^ Math.imul(purpose, GOLDEN)))
  let state = first
  let word = first
  for (let i = start; i < out.length; i++) {
    const within = (i - start) & 3
    if (within === 0 && i > start) {
      state = (state + GOLDEN) | 0
      word = mixed(state)
    }
    out[i] = (word >>> (8 * within)) & 0xff
  }
}
