/** The command line's calls are typed by the methods' rows, all of them. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cliMethodsText } from '../../../scripts/cliMethods.ts'
import { ROOT } from '../../support/shared.ts'

const CLI = join(ROOT, 'platform/cli')

describe('types of the calls', () => {
  it('are what the rows say', { timeout: 30_000 }, async () => {
    const text = await cliMethodsText()
    const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome')
    const formatted = execFileSync(process.execPath, [biome, 'format', '--stdin-file-path=nodeMethods.ts'], {
      cwd: ROOT,
      input: text,
      encoding: 'utf8',
    })
    expect(readFileSync(join(CLI, 'nodeMethods.ts'), 'utf8')).toBe(formatted)
  })

  it('are asked for nowhere else', () => {
    const untyped = readdirSync(CLI, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => /\.(call|listen)\s*<|\.request\(|Filecoin\./.test(readFileSync(file, 'utf8')))
      .map((file) => file.slice(CLI.length + 1))
    // The connection itself, and the stream of an export.
    expect(untyped.sort()).toEqual(['exportStream.ts', 'rpcClient.ts'])
  })
})
