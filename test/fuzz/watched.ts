/**
 * Targets in a thread of their own, under watch: an input that never comes to an end, or that ends the thread, is a find as any other,
 * and the next target goes on in a new thread.
 */
import { Worker } from 'node:worker_threads'
import { errorMessage } from '../../src/base/errors.ts'
import type { FuzzLimit, FuzzReport } from './fuzzLoop.ts'
import type { ThreadWork } from './fuzzThread.ts'
import { InputMark } from './inputMark.ts'

/** No input may take longer by the clock on the wall, whatever else the machine does, nor may a thread's start. */
const STUCK_MS = 60_000
const LOOKS = 20

/** What is run. */
export interface WatchedRun {
  readonly names: readonly string[]
  /** Module with `TARGETS`. */
  readonly module: URL
  readonly seed: number
  /** For each target. */
  readonly limit: FuzzLimit
  /** When an input counts as one that has no end, milliseconds; not for the first, which waits for the modules. */
  readonly stuckMs?: number
}

/** Tells of each target in turn. */
export async function runWatched(run: WatchedRun, onReport: (name: string, report: FuzzReport) => void): Promise<void> {
  let done = 0
  const told = (report: FuzzReport): void => onReport(run.names[done++] as string, report)
  while (done < run.names.length) {
    const mark = new InputMark()
    const what = await oneThread({ ...run, names: run.names.slice(done) }, mark, told)
    if (done === run.names.length) return
    const finds = [{ input: mark.input, what }]
    told({ inputs: mark.count, mutated: 0, kept: [], finds, slowestMs: run.stuckMs ?? STUCK_MS })
  }
}

/** @returns why it ended */
async function oneThread(
  { names, module, seed, limit, stuckMs = STUCK_MS }: WatchedRun,
  mark: InputMark,
  told: (report: FuzzReport) => void,
): Promise<string> {
  const work: ThreadWork = { names, module: module.href, seed, limit, mark: mark.memory }
  const thread = new Worker(new URL('./fuzzThread.ts', import.meta.url), { workerData: work })
  const { promise, resolve } = Promise.withResolvers<string>()
  let [seen, since] = [mark.count, performance.now()]
  const look = (): void => {
    const now = performance.now()
    if (mark.count !== seen) [seen, since] = [mark.count, now]
    else if (now - since > (seen === 0 ? STUCK_MS : stuckMs)) resolve(`no end after ${stuckMs} ms`)
  }
  const looks = setInterval(look, stuckMs / LOOKS)
  let left = names.length
  thread.on('message', (report: FuzzReport) => {
    told(report)
    left--
    if (left === 0) resolve('')
  })
  thread.on('error', (error) =>
    resolve(`the thread ended: ${error instanceof Error ? error.stack : errorMessage(error)}`),
  )
  thread.on('exit', (code) => resolve(`the thread ended by itself (${code}): something is awaited that never comes`))
  try {
    return await promise
  } finally {
    clearInterval(looks)
    await thread.terminate()
  }
}
