/** Runs {@link checkChain} in a thread with a large stack. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type ChainCheck, checkChain } from './checkChain.ts'

const STACK_MB = 64

/** @throws what the check throws */
export function checkInThread(name: string): Promise<ChainCheck> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { petrelChain: name },
      resourceLimits: { stackSizeMb: STACK_MB },
    })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

const task = workerData as { petrelChain?: string } | null
if (!isMainThread && typeof task?.petrelChain === 'string') parentPort?.postMessage(checkChain(task.petrelChain))
