/** The program for Node, started by another runtime: it names the one that is meant. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { denoPath } from '../../support/deno.ts'
import { ROOT } from '../../support/shared.ts'

it('names the program that Deno has', () => {
  const { status, stderr } = spawnSync(denoPath(), ['run', '-A', join(ROOT, 'bin/petrel.js'), 'daemon'], {
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toContain('platform/deno/main.ts')
})
