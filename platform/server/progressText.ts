/** How long work is told of on a terminal. */
import { line, type ProgramIo } from './programIo.ts'
import type { ListedSnapshot } from './snapshotProviders.ts'

const PROGRESS_MS = 5000
const MIB = 1 << 20

/** A function that prints a line now and then. */
export function everyFewSeconds(io: ProgramIo): (text: () => string) => void {
  let next = io.now() + PROGRESS_MS
  return (text) => {
    const now = io.now()
    if (now < next) return
    next = now + PROGRESS_MS
    line(io, text())
  }
}

/** How much of how much. */
export function percentText(bytes: number, total: number | undefined): string {
  const amount = `${(bytes / MIB).toFixed(1)} MiB`
  return total === undefined
    ? amount
    : `${amount} of ${(total / MIB).toFixed(1)} MiB, ${Math.floor((100 * bytes) / Math.max(1, total))} %`
}

/** One listed snapshot. */
export function snapshotLine({ name, epoch, sizeBytes }: ListedSnapshot): string {
  return `${name}${epoch === undefined ? '' : `, epoch ${epoch}`}, ${percentText(sizeBytes, undefined)}`
}
