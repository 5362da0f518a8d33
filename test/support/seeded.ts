/** Random values that can be had again: each run has a seed, and says it. */

/** A stream of random numbers. */
export interface Seeded {
  readonly seed: number
  /** Whole number from 0 to `below` - 1. */
  int(below: number): number
  bytes(length: number): Uint8Array
  /** A copy in random order. */
  shuffle<T>(items: readonly T[]): T[]
}

/**
 * Prints the seed under the test's name, so that a failure can be run again with it.
 * @param seed - default: a new one each run
 */
export function seeded(name: string, seed: number = Date.now() % 0x7fffffff): Seeded {
  console.log(`${name}: seed ${seed}`)
  // mulberry32
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const int = (below: number): number => Math.floor(next() * below)
  return {
    seed,
    int,
    bytes: (length) => Uint8Array.from({ length }, () => int(256)),
    shuffle: (items) => {
      const out = [...items]
      for (let i = out.length - 1; i > 0; i--) {
        const j = int(i + 1)
        const kept = out[i] as (typeof out)[number]
        out[i] = out[j] as (typeof out)[number]
        out[j] = kept
      }
      return out
    },
  }
}
