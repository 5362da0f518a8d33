/** A command that asks a node does not load one: each of its files would cost every command its start. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../support/shared.ts'

/** Prints the name of each file that is loaded. */
const TELL = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })
`)}`
/** Rooms of a running node, but for names and numbers, and a package with native parts. */
const NODE =
  /\/(?:src\/(?:node|sync|mempool|execution|fvm)\/(?!modes\.ts|limits\.ts|README)|platform\/server\/(?:run|nodeRunner|httpServer|lmdbStore)|node_modules\/lmdb\/)/

it('the command line loads no node for a command that runs none', () => {
  const { stderr, status } = spawnSync(
    process.execPath,
    ['--import', TELL, join(ROOT, 'bin/petrel.js'), 'wallet', '--help'],
    { encoding: 'utf8' },
  )
  expect(status).toBe(0)
  const files = stderr.split('\n').filter((line) => line.startsWith('file:'))
  expect(files.some((file) => file.endsWith('/platform/cli/program.ts'))).toBe(true)
  expect(files.filter((file) => NODE.test(file))).toEqual([])
})
