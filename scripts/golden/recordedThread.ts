/**
 * A recorded chain in a thread of its own, with a stack deep enough for any call depth that the machine allows: the
 * engine runs out of the main thread's at some 80 nested contract calls.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { openRecorded } from './openRecorded.ts'

const STACK_MB = 256

/** A recorded chain that answers. */
export interface RecordedServer {
  readonly url: string
  readonly token: string
  close(): Promise<void>
}

/** Opens a folder of shared/data/golden in a thread. */
export function serveRecorded(folder: string): Promise<RecordedServer> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { recordedFolder: folder },
      resourceLimits: { stackSizeMb: STACK_MB },
    })
    worker.once('error', reject)
    worker.once('message', ({ url, token }: { url: string; token: string }) => {
      resolve({ url, token, close: async () => void (await worker.terminate()) })
    })
  })
}

const task = workerData as { recordedFolder?: string } | null
if (!isMainThread && typeof task?.recordedFolder === 'string') {
  const { url, token } = await openRecorded(task.recordedFolder)
  parentPort?.postMessage({ url, token })
}
