/**
 * How far the old generation may grow beyond what lives in it. V8 lets it have up to four times as much, which is right where what
 * is promoted stays. Of a list of a whole state nearly nothing stays: 350,000 actors took a heap of 234 MB for 50 MB that live, and
 * 112 MB this way. So it may have less while such lists are sent, and not always: executing takes a fifth more of the processor
 * then. A node that executes no blocks may always have less: 36 MB that live took 81 MB after 2,000 certificates.
 */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { unlessThrown } from '../../src/base/errors.ts'

const SPARING_PERCENT = 30
const LOOK_MS = 1000
/** V8 chooses. */
const OWN_CHOICE = 0
/**
 * Own memory of the process, bytes, above which a node that executes lets its heaps grow less, and below which no more. What 30 % costs
 * depends on how little lives: executing the same tipset of 1,200 messages again and again half as much once more, where following
 * takes a tenth. So there is a step between.
 */
const STEPS = [
  { above: 350 * 2 ** 20, until: 250 * 2 ** 20, percent: SPARING_PERCENT },
  { above: 200 * 2 ** 20, until: 150 * 2 ** 20, percent: 100 },
] as const
/** Of this process, as the flag is: lists that are being sent, and a mode that holds little. */
let reasons = 0
/** By the process's memory. */
let step: number = OWN_CHOICE

/** A list is being sent. @returns what says that it is not any more */
export function spareHeap(): () => void {
  if (reasons++ === 0) grow()
  return () => {
    if (--reasons === 0) grow()
  }
}

/**
 * From now on, for a node that follows headers or finality: it answers as many requests a second. (V8's `--memory-saver-mode` would
 * take 8 MB more after 60 epochs of headers, and a fifth of the requests.)
 */
export function holdLittle(): void {
  spareHeap()
}

/**
 * From now on, for a node that executes: as long as its process has much memory of its own.
 *
 * @param ownBytes - undefined where the system does not say: V8 chooses then
 */
export function spareWhileMuch(ownBytes: () => number | undefined = ownMemory): void {
  const look = (): void => {
    const bytes = ownBytes() ?? 0
    const isOn = (percent: number): boolean => step !== OWN_CHOICE && step <= percent
    const next = STEPS.find(({ above, until, percent }) => bytes > above || (bytes > until && isOn(percent)))
    step = next?.percent ?? OWN_CHOICE
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

/** As far as they may at present. */
function grow(): void {
  setFlagsFromString(`--heap-growing-percent=${reasons > 0 ? SPARING_PERCENT : step}`)
}
