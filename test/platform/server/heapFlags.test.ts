/** V8's flags are the process's. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SCRIPT = fileURLToPath(new URL('heapFlags.ts', import.meta.url))

describe('V8’s flags', () => {
  it('are set by how much memory the process has, how busy it is, and its mode', () => {
    const args = ['--conditions=petrel-source', SCRIPT]
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' }).trimEnd().split('\n')).toEqual([
      'idle',
      '--memory-saver-mode',
      '--heap-growing-percent=0',
      'busy',
      '--no-memory-saver-mode',
      '--heap-growing-percent=0',
      '--memory-saver-mode',
      '--heap-growing-percent=0',
      'busy, and others get the processors',
      '--no-memory-saver-mode',
      '--heap-growing-percent=0',
      'busy, in a mode that holds little',
      '--heap-growing-percent=30',
      '--memory-saver-mode',
      '--heap-growing-percent=30',
    ])
  })
})
