/** Processor time of another process, all its threads together (Linux). */
import { readFileSync } from 'node:fs'

/** Ticks of the kernel's clock, ms. */
const TICK_MS = 10

/** So far, ms. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return TICK_MS * (Number(fields[11]) + Number(fields[12]))
}
