/** A reader that goes away before everything is written, as `head` does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/shared.ts'

it('ends quietly when nobody reads any more', async () => {
  const child = spawn(process.execPath, [join(ROOT, 'bin/petrel.js'), '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // The reading end is closed before the program has started to write.
  child.stdout.destroy()
  let errors = ''
  child.stderr.on('data', (part: Buffer) => {
    errors += part.toString('utf8')
  })
  const [code] = (await once(child, 'close')) as [number]
  expect(errors).toBe('')
  expect(code).toBe(0)
})
