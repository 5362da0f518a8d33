/**
 * How far the old generation may grow beyond what lives in it. V8 lets it have up to four times as much, which is right where what
 * is promoted stays. A node that executes no blocks may always have less: 36 MB that live took 81 MB after 2,000 certificates. Others
 * where the process has much.
 */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { unlessThrown } from '../../src/base/errors.ts'
import { BusyLook } from './busyLook.ts'

const SPARING_PERCENT = 30
const LOOK_MS = 1000
/** V8 chooses. */
const OWN_CHOICE = 0
const MIB = 2 ** 20
/**
 * Own memory of the process, bytes, above which a node that executes lets its heaps grow less, and below which no more. What 30 % costs
 * depends on how little lives: executing the same tipset of 1,200 messages again and again half as much once more, where following
 * takes a tenth. So there is a step between.
 */
const STEPS = [
  { above: 350 * MIB, until: 250 * MIB, percent: SPARING_PERCENT },
  { above: 200 * MIB, until: 150 * MIB, percent: 100 },
] as const
/**
 * The same, from which on V8 is to save memory instead: it then collects in the pauses, moves what lives together, and lets the old
 * generation grow by 30 %. Not while the process is busy, when there are no pauses: 1,000,000 claims took 20 s instead of 10, 355 epochs
 * that were still to be executed 66 instead of 43, `ChainHead` under load a sixth more. A mode that holds little saves all the same:
 * 355 epochs of headers took some 200 MB at most and 26 s, 275 and 20 otherwise.
 */
const SAVING = { above: 170 * MIB, until: 125 * MIB } as const

/** A mode that holds little. The flags are the process's. */
let holdsLittle = false
/** By the process's memory. */
let step: number = OWN_CHOICE
/** Whether V8 saves memory. */
let saves = false

/** From now on, for a node that follows headers or finality. */
export function holdLittle(): void {
  holdsLittle = true
  grow()
}

/** From now on, as long as the process has much memory of its own. Where the system does not say how much, V8 chooses. */
export function spareWhileMuch(): void {
  const busy = new BusyLook()
  let isMuch = false
  const look = (): void => {
    const bytes = ownMemory() ?? 0
    const isOn = (percent: number): boolean => step !== OWN_CHOICE && step <= percent
    const next = STEPS.find(({ above, until, percent }) => bytes > above || (bytes > until && isOn(percent)))
    step = next?.percent ?? OWN_CHOICE
    isMuch = bytes > (isMuch ? SAVING.until : SAVING.above)
    const before = saves
    // Asked each time: it looks at what was since it was asked last.
    const isBusy = busy.isBusy()
    saves = isMuch && (holdsLittle || !isBusy)
    if (saves !== before) setFlagsFromString(saves ? '--memory-saver-mode' : '--no-memory-saver-mode')
    grow()
  }
  setInterval(look, LOOK_MS).unref()
}

/**
 * Resident pages that are no file's, bytes. Linux alone says so, and Deno only to whom it allowed to read the file: a node with the
 * permissions of its task goes on without. @see proc_pid_status(5), RssAnon
 */
function ownMemory(): number | undefined {
  const text = unlessThrown(() => readFileSync('/proc/self/status', 'latin1'), Error) ?? ''
  const kib = /^RssAnon:\s+(\d+) kB$/m.exec(text)?.[1]
  return kib === undefined ? undefined : Number(kib) * 1024
}

/** As far as they may at present. What V8 does when it saves memory, a number of our own would replace. */
function grow(): void {
  const percent = saves ? OWN_CHOICE : step
  setFlagsFromString(`--heap-growing-percent=${holdsLittle ? SPARING_PERCENT : percent}`)
}
