/** Normally distributed numbers from secure random bytes. */
import type { Random } from '../../base/ports.ts'

/** @returns a source with mean 0 and deviation 1 (Box and Muller) */
export function normalRandom(random: Random): () => number {
  const uniform = uniformRandom(random)
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
}

/** @returns a source that is uniform in [0, 1) */
export function uniformRandom(random: Random): () => number {
  const bytes = new Uint8Array(8)
  const view = new DataView(bytes.buffer)
  return () => {
    random.fill(bytes)
    return (view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11)) / 2 ** 53
  }
}
