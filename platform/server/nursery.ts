/**
 * The young generation of the main thread's heap. V8 doubles it while modules load, to 64 MB, and keeps it so: 40 to 60 MB of
 * memory that a node has no use for which executes nothing. Not doubled, it stays at some MB, and is collected more often: some
 * 1 % more of the processor's time at the start, nothing that could be seen later.
 */
import { setFlagsFromString } from 'node:v8'

/** Before a node's modules are loaded. */
export function keepNurserySmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** For a node that executes: traces and blocks are many, and live shortly. */
export function letNurseryGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}
