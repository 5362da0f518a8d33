/** The exchange example runs to its end. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/shared.ts'

test('examples/exchange', { timeout: 180_000 }, () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['-C', 'petrel-source', join(ROOT, 'examples/exchange/main.ts')],
    { encoding: 'utf8' },
  )
  expect(`${stdout}\n${stderr}`).toContain('everything is as it should be')
  expect(status).toBe(0)
})
