/** Starts the machine in a Web Worker. */
import type { WorkerPort } from '../../src/base/ports.ts'
import type { VmWorkerStart } from './vmWorker.ts'

/** @param url - of the built `vmWorker` module */
export function startVmWorker(url: string | URL, start: VmWorkerStart): WorkerPort {
  const worker = new Worker(url, { type: 'module', name: 'petrel-vm' })
  worker.postMessage(start)
  return {
    post: (message) => worker.postMessage(message, [message.buffer as ArrayBuffer]),
    onMessage: (listener) => {
      worker.onmessage = ({ data }: MessageEvent<Uint8Array>) => listener(data)
    },
    onEnd: (listener) => {
      worker.onerror = (event) => {
        worker.terminate()
        listener(event.message)
      }
      worker.onmessageerror = () => {
        worker.terminate()
        listener('a message could not be read')
      }
    },
    close: () => worker.terminate(),
  }
}
