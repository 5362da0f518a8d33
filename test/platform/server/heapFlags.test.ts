/** V8's flags are the process's, whichever thread has a reason for them. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SCRIPT = fileURLToPath(new URL('heapFlags.ts', import.meta.url))

describe('V8’s flags', () => {
  it('are set by the main thread alone, by its reasons, the requests of all threads, and how far the chain goes on', () => {
    const args = ['--conditions=petrel-source', SCRIPT]
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' }).trimEnd().split('\n')).toEqual([
      '--heap-growing-percent=30',
      // Nothing is set there: the node still has a reason.
      'a list in a thread',
      'few requests',
      '--memory-saver-mode',
      '--heap-growing-percent=30',
      'many requests in a thread',
      '--no-memory-saver-mode',
      '--heap-growing-percent=30',
      'few requests, near the head',
      '--memory-saver-mode',
      '--heap-growing-percent=30',
      'far below it',
      '--no-memory-saver-mode',
      '--heap-growing-percent=30',
    ])
  })
})
