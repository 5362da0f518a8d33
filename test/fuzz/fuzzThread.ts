/** The thread that runs targets, one after the other, and tells of each. Who started it watches it. @see watched.ts */
import { parentPort, workerData } from 'node:worker_threads'
import { errorMessage } from '../../src/base/errors.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { type Find, type FuzzLimit, type FuzzReport, fuzz } from './fuzzLoop.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { InputMark } from './inputMark.ts'
import { readCorpus } from './keptInputs.ts'

/** What the thread is to do. */
export interface ThreadWork {
  readonly names: readonly string[]
  /** Address of a module with `TARGETS`. */
  readonly module: string
  readonly seed: number
  /** For each target. */
  readonly limit: FuzzLimit
  readonly mark: SharedArrayBuffer
}

const { names, module, seed, limit, mark: memory } = workerData as ThreadWork
const mark = new InputMark(memory)
const rejections: Find[] = []
process.on('unhandledRejection', (reason) => {
  const what = reason instanceof Error ? (reason.stack ?? reason.message) : errorMessage(reason)
  rejections.push({ input: mark.input, what: `a rejection that nobody awaits, at this input or before: ${what}` })
})
await initCrypto()
const { TARGETS } = (await import(module)) as { TARGETS: Readonly<Record<string, FuzzTarget>> }
for (const name of names) {
  const target = TARGETS[name]
  if (target === undefined) throw new Error(`no target ${name}`)
  const report = await fuzz(target, readCorpus(name), seed, limit, (input) => mark.set(input))
  // A rejection is told when nothing else is left to do.
  await new Promise((resolve) => setImmediate(resolve))
  const told: FuzzReport = { ...report, finds: [...report.finds, ...rejections.splice(0)] }
  parentPort?.postMessage(told)
}
