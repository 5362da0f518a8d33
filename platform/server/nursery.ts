/**
 * The young generation of the main thread's heap. V8 doubles it while modules are loaded and read, to 64 MB, and keeps it so: 20
 * to 60 MB that a quiet node has no use for. Under load a small one costs a third of the processor's time. So it may grow only
 * while there is much to do; V8 shrinks it again.
 */
import { setFlagsFromString } from 'node:v8'
import { BusyLook } from './busyLook.ts'

/** What a start takes, and the garbage that it leaves. */
const START_MS = 5000
const LOOK_MS = 1000

function growBy(factor: 1 | 2): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`)
}

/** From now on, which is best before a node's modules are loaded. */
export function fitNursery(): void {
  growBy(1)
  const watch = (): void => {
    const busy = new BusyLook()
    setInterval(() => growBy(busy.isBusy() ? 2 : 1), LOOK_MS).unref()
  }
  setTimeout(watch, START_MS).unref()
}
