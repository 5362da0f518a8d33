/** Threads that start at the same moment: V8's flags are the whole process'. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'

const THREADS = 4
/** So often that they meet. */
const TIMES = 100

it('each of them finds the collector, whatever the others do', { timeout: 60_000 }, async () => {
  const watch = new URL('../../../platform/server/bufferWatch.ts', import.meta.url).href
  const code = `import(${JSON.stringify(watch)}).then(({ watchBuffers }) => {
    for (let i = 0; i < ${TIMES}; i++) watchBuffers()
  })`
  const threads = Array.from({ length: THREADS }, () => new Worker(code, { eval: true }))
  const ended = await Promise.all(threads.map((thread) => once(thread, 'exit')))
  expect(ended).toEqual(Array(THREADS).fill([0]))
})
