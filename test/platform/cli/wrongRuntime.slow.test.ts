/** The program for Node, started by another runtime: it names the one that is meant. */
import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

it('names the program that Deno has', () => {
  const { status, stderr } = spawnSync('node_modules/.bin/deno', ['run', '-A', 'bin/petrel.js', 'daemon'], {
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toContain('platform/deno/main.ts')
})
