/**
 * The workers of a tab where there is no IndexedDB: neither can start, and both say so. Each runs in a thread that takes no
 * notice of a rejection that nobody handles, as a browser's worker takes none.
 */
import { once } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'

/** Gives the thread what a dedicated worker has, and tells it one message after the other. */
function startThread(module: string): Worker {
  const url = new URL(`../../platform/browser/${module}`, import.meta.url).href
  const code = `
    const { parentPort } = require('node:worker_threads')
    globalThis.postMessage = (message) => parentPort.postMessage(message)
    const loaded = import(${JSON.stringify(url)})
    parentPort.on('message', (data) => loaded.then(() => globalThis.onmessage({ data })))`
  return new Worker(code, { eval: true, execArgv: [...process.execArgv, '--unhandled-rejections=none'] })
}

it('the worker of the machine ends when it cannot start', async () => {
  const worker = startThread('vmWorker.ts')
  worker.on('message', () => undefined)
  worker.postMessage({ mode: 'native', keyGateways: [] })
  const [error] = (await once(worker, 'error')) as [Error]
  expect(error.message).toContain('indexedDB')
})

it('a node that cannot start refuses the clients that wait for it, and those that come later', async () => {
  const worker = startThread('worker.ts')
  const early = new MessageChannel()
  const late = new MessageChannel()
  const webRtc = new MessageChannel()
  const connect = ({ port2 }: MessageChannel): void =>
    worker.postMessage({ type: 'session', request: { access: { as: 'page' }, version: 'v1' }, port: port2 }, [port2])
  try {
    const options = { node: { kind: 'local' }, name: 'nowhere', passphrase: undefined, log: 'error', vmWorkerUrl: '' }
    const refusedEarly = once(early.port1, 'message')
    const refusedLate = once(late.port1, 'message')
    worker.postMessage({ type: 'start', options, webRtc: webRtc.port2 }, [webRtc.port2])
    connect(early)
    const refusal = { refused: 'the node did not start: Cannot open the store: no IndexedDB here' }
    expect(await refusedEarly).toEqual([refusal])
    connect(late)
    expect(await refusedLate).toEqual([refusal])
  } finally {
    await worker.terminate()
    for (const { port1 } of [early, late, webRtc]) port1.close()
  }
})
