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
 * Own memory of the process, bytes, above which V8 is to save memory, and below which no more: it then collects in the pauses, moves what
 * lives together, and lets the old generation grow by 30 %. Always, it would take a tenth of the requests a second and of what nearly empty
 * tipsets take.
 */
const MUCH_BYTES = 170 * 2 ** 20
const LITTLE_BYTES = 125 * 2 ** 20
/** Of this process, as the flag is: lists that are being sent, and a mode that holds little. */
let reasons = 0

/** A list is being sent. @returns what says that it is not any more */
export function spareHeap(): () => void {
  if (reasons++ === 0) grow()
  return () => {
    if (--reasons === 0) grow()
  }
}

/** From now on, for a node that follows headers or finality: it answers as many requests a second. */
export function holdLittle(): void {
  spareHeap()
}

/** From now on, as long as the process has much memory of its own. Where the system does not say how much, V8 chooses. */
export function spareWhileMuch(): void {
  let isMuch = false
  const look = (): void => {
    const before = isMuch
    isMuch = (ownMemory() ?? 0) > (before ? LITTLE_BYTES : MUCH_BYTES)
    if (isMuch !== before) setFlagsFromString(isMuch ? '--memory-saver-mode' : '--no-memory-saver-mode')
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
  setFlagsFromString(`--heap-growing-percent=${reasons > 0 ? SPARING_PERCENT : OWN_CHOICE}`)
}
