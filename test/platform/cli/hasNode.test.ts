/** Whether a node runs on a home: its lock says so, not a file that a kill leaves. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { hasNode } from '../../../platform/cli/commands/snapshotExport.ts'
import type { CliContext } from '../../../platform/cli/context.ts'
import { repoPath } from '../../../platform/cli/rpcClient.ts'
import { Home } from '../../../platform/server/home.ts'
import type { ProgramIo } from '../../../platform/server/programIo.ts'

const home = new Home(mkdtempSync(join(tmpdir(), 'petrel-has-node-')))
afterAll(() => rmSync(home.path, { recursive: true }))

it('a node runs where a living process has the home', () => {
  const contextWith = (env: Record<string, string>) => ({ io: { env }, repo: () => home.path }) as unknown as CliContext
  const context = contextWith({})
  expect(hasNode(context)).toBe(false)
  writeFileSync(home.api, '/ip4/127.0.0.1/tcp/1/http')
  expect(hasNode(context)).toBe(false)
  // No process has this number.
  writeFileSync(home.lock, '4194305\n')
  expect(hasNode(context)).toBe(false)
  writeFileSync(home.lock, `${process.ppid}\n`)
  expect(hasNode(context)).toBe(true)
  writeFileSync(home.lock, 'no lock')
  expect(hasNode(context)).toBe(true)
  rmSync(home.lock)
  expect(hasNode(contextWith({ FULLNODE_API_INFO: '/ip4/127.0.0.1/tcp/1/http' }))).toBe(true)
})

it('the path of a home is absolute, however it is given', () => {
  const io = (env: Record<string, string>) => ({ env, userHome: '/home/one' }) as unknown as ProgramIo
  expect(repoPath(io({}), 'here')).toBe(join(process.cwd(), 'here'))
  expect(repoPath(io({ PETREL_HOME: './there' }), undefined)).toBe(join(process.cwd(), 'there'))
  expect(repoPath(io({}), undefined)).toBe('/home/one/.petrel')
})
