/** Normally distributed numbers from secure random bytes. */
import type { Random } from '../../base/ports.ts'

/** @returns a source with mean 0 and deviation 1 (Box and Muller) */
export function normalRandom(random: Random): () => number {
  const uniform = uniformRandom(random)
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
}

/** Bytes asked for at once: asking costs 20 us, more than all that is done with the number. */
const STOCK = 1024
/** Of one number. */
const BYTES = 8

/** @returns a source that is uniform in [0, 1) */
export function uniformRandom(random: Random): () => number {
  const bytes = new Uint8Array(STOCK)
  const view = new DataView(bytes.buffer)
  let at = STOCK
  return () => {
    if (at === STOCK) {
      random.fill(bytes)
      at = 0
    }
    const value = (view.getUint32(at) * 2 ** 21 + (view.getUint32(at + 4) >>> 11)) / 2 ** 53
    at += BYTES
    return value
  }
}
