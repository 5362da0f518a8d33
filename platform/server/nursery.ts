/**
 * The young generation of the main thread's heap. V8 doubles it while modules are loaded and read, to 64 MB, and keeps it so: 20
 * to 60 MB that a quiet node has no use for. Under load a small one costs a third of the processor's time. So it may grow only
 * while there is much to do; V8 shrinks it again.
 */
import { setFlagsFromString } from 'node:v8'

/** What a start takes, and the garbage that it leaves. */
const START_MS = 5000
const LOOK_MS = 1000
const MICROS_PER_MS = 1000
/** Share of a processor that is much. */
const BUSY = 0.5

function growBy(factor: 1 | 2): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}

/** From now on, which is best before a node's modules are loaded. */
export function fitNursery(): void {
  growBy(1)
  let before: NodeJS.CpuUsage | undefined
  const look = (): void => {
    const { user, system } = process.cpuUsage(before)
    growBy(before !== undefined && user + system > BUSY * LOOK_MS * MICROS_PER_MS ? 2 : 1)
    before = process.cpuUsage()
  }
  setTimeout(() => setInterval(look, LOOK_MS).unref(), START_MS).unref()
}
