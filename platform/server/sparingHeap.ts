/**
 * How far the old generation may grow beyond what lives in it. V8 lets it have up to four times as much, which is right where what
 * is promoted stays. Of a list of a whole state nearly nothing stays: 350,000 actors took a heap of 234 MB for 50 MB that live, and
 * 112 MB this way. So it may have less while such lists are sent, and not always: executing takes a fifth more of the processor
 * then. A node that executes no blocks may always have less: 36 MB that live took 81 MB after 2,000 certificates.
 */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { isMainThread } from 'node:worker_threads'
import { unlessThrown } from '../../src/base/errors.ts'

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
 * generation grow by 30 %.
 */
const SAVING = { above: 170 * MIB, until: 125 * MIB } as const
/**
 * Requests in a second from which on it is not to: that took a sixth of `ChainHead` and two fifths of `EthGetBlockByNumber` where a
 * thread for reads had started. Who asks one question after the other asks fewer.
 */
const MANY_REQUESTS = 2000
/**
 * Epochs to be executed from which on it is not to, either: 355 of mainnet's size took 43 s with 540 MB at most, and 66 s with 400. A
 * node that follows head by head has time for it.
 */
const FAR_EPOCHS = 20
/**
 * Lists that are being sent, and a mode that holds little. The flags are the process's: the main thread sets them, by what it knows. A
 * list that a thread of reads sends is held down by the process's memory alone.
 */
let reasons = 0
/** By the process's memory. */
let step: number = OWN_CHOICE
/** Whether V8 saves memory. */
let saves = false
/** Since the last look. */
let requests = 0
let epochsToExecute = (): number => 0

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

/** From now on, for a node that executes what others made. @param epochsLeft - that it has still to execute */
export function hurryWhileFar(epochsLeft: () => number): void {
  epochsToExecute = epochsLeft
}

/** So many requests have come, to this thread or to those that answer beside it. */
export function countRequests(count: number): void {
  requests += count
}

/** From now on, as long as the process has much memory of its own. Where the system does not say how much, V8 chooses. */
export function spareWhileMuch(): void {
  let isMuch = false
  const look = (): void => {
    const bytes = ownMemory() ?? 0
    const isOn = (percent: number): boolean => step !== OWN_CHOICE && step <= percent
    const next = STEPS.find(({ above, until, percent }) => bytes > above || (bytes > until && isOn(percent)))
    step = next?.percent ?? OWN_CHOICE
    isMuch = bytes > (isMuch ? SAVING.until : SAVING.above)
    const before = saves
    saves = isMuch && requests * 1000 < MANY_REQUESTS * LOOK_MS && epochsToExecute() < FAR_EPOCHS
    requests = 0
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
  if (!isMainThread) return
  const percent = saves ? OWN_CHOICE : step
  setFlagsFromString(`--heap-growing-percent=${reasons > 0 ? SPARING_PERCENT : percent}`)
}
