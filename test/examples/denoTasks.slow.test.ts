/** The tasks of deno.json in both forms in which npm installs Deno: with its install script the link leads to the program itself. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { denoPath } from '../support/deno.ts'
import { ROOT } from '../support/shared.ts'

const run = (file: string, args: readonly string[], cwd: string): string =>
  execFileSync(file, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

describe('deno task', () => {
  const program = denoPath()
  let clone: string
  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'petrel-tasks-'))
    copyFileSync(join(ROOT, 'deno.json'), join(clone, 'deno.json'))
    for (const name of ['platform', 'src', 'package.json']) symlinkSync(join(ROOT, name), join(clone, name))
    mkdirSync(join(clone, 'node_modules/.bin'), { recursive: true })
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(clone, 'node_modules', name))
    }
  })
  afterEach(() => rmSync(clone, { recursive: true }))

  it.each([
    ['a script', join(ROOT, 'node_modules/deno/bin.cjs')],
    ['the program', program],
  ])('runs where node_modules/.bin/deno is %s', (_form, target) => {
    symlinkSync(target, join(clone, 'node_modules/.bin/deno'))
    expect(run(program, ['task', 'petrel', '--version'], clone)).toMatch(/^\d+\.\d+\.\d+$/m)
  })
})
