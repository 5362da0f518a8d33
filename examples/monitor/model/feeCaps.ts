/** Fee caps of what waits in the pool, against the base fee: what the next block may take, and what waits for the fee to fall. */
import type { Pool } from './pool.ts'

/** One class of caps. */
export interface CapClass {
  /** AttoFIL per unit of gas; the class holds caps from here up to the next one's. */
  readonly from: number
  readonly count: number
  /** Its messages can pay the base fee. */
  readonly pays: boolean
}

export interface FeeCaps {
  readonly classes: readonly CapClass[]
  /** Messages whose cap is at least the base fee, and those below it. */
  readonly paying: number
  readonly waiting: number
}

/** Each class is this factor wide. */
const FACTOR = 2
/** Below and above the base fee; the outermost classes take the rest. */
const SIDES = 5

/** @param baseFee - attoFIL per unit of gas */
export function feeCapsOf(pool: Pick<Pool, 'senders'>, baseFee: bigint): FeeCaps {
  const base = Math.max(1, Number(baseFee))
  const counts = new Array<number>(2 * SIDES).fill(0)
  let paying = 0
  let waiting = 0
  for (const { messages } of pool.senders('f')) {
    for (const { message } of messages) {
      const { gasFeeCap } = message.message
      const isPaying = gasFeeCap >= baseFee
      if (isPaying) paying++
      else waiting++
      const step = Math.floor(Math.log(Math.max(1, Number(gasFeeCap)) / base) / Math.log(FACTOR))
      // A cap just below the base fee must not be counted with those that pay.
      const side = isPaying ? Math.max(0, step) : Math.min(-1, step)
      const place = Math.min(counts.length - 1, Math.max(0, side + SIDES))
      counts[place] = (counts[place] ?? 0) + 1
    }
  }
  const classes = counts.map((count, i) => ({ from: base * FACTOR ** (i - SIDES), count, pays: i >= SIDES }))
  return { classes, paying, waiting }
}
