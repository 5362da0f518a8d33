/** The examples of docs/library.md: they have the types that they are written with, and do what they say against a local chain. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NodeProcess, startLocalChain } from '../runtimes/nodeProcess.ts'
import { ROOT } from '../support/shared.ts'

const run = promisify(execFile)
const TIMEOUT_MS = 120_000
const TSC = join(ROOT, 'node_modules/typescript/lib/tsc.js')
const MODULES = { petrel: 'platform/library/petrel.ts', 'petrel/browser': 'platform/browser/client.ts' }

/** By heading: what the program prints; undefined: it is a page's. 0xff00…03e8 is f01000 (FIP-0055, masked ID addresses). */
const PRINTS: Readonly<Record<string, RegExp | undefined>> = {
  'Ask a node': /^epoch \d+: [\d.]+ FIL are burnt\n$/,
  Listen: /^current \d+\n(apply \d+\n){2}/,
  Pay: /^exit code 0, gas \d+\n$/,
  'Addresses, amounts, bytes': /^f01000 0\.25 FIL\nf01000\ntrue true\n$/,
  Errors: /^REMOTE .*height/,
  'A node in a page': undefined,
}

/** Code by the heading that it stands under. */
function examples(): Map<string, string> {
  const text = readFileSync(join(ROOT, 'docs/library.md'), 'utf8')
  return new Map(
    text.split(/^## /m).flatMap((part): [string, string][] => {
      const code = /^```ts\n([\s\S]*?)^```$/m.exec(part)?.[1]
      return code === undefined ? [] : [[part.slice(0, part.indexOf('\n')), code]]
    }),
  )
}

const folder = mkdtempSync(join(tmpdir(), 'petrel-library-'))
const found = examples()
const fileOf = (heading: string): string => join(folder, `${heading.replace(/\W+/g, '-')}.ts`)
let node: NodeProcess

beforeAll(async () => {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const home = join(folder, 'home')
  node = await startLocalChain(home)
  for (const [heading, code] of found) {
    let own = code.replaceAll('127.0.0.1:1234', new URL(node.url).host)
    for (const [name, path] of Object.entries(MODULES)) own = own.replaceAll(`'${name}'`, `'${join(ROOT, path)}'`)
    writeFileSync(fileOf(heading), own)
  }
}, TIMEOUT_MS)
afterAll(async () => {
  await node?.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('docs/library.md', { timeout: TIMEOUT_MS }, () => {
  it('has the examples that are run here', () => {
    expect([...found.keys()]).toEqual(Object.keys(PRINTS))
  })

  it('has examples of the right types', () => {
    const config = {
      extends: join(ROOT, 'tsconfig.base.json'),
      compilerOptions: {
        ...{ lib: ['ES2024', 'ESNext', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], isolatedDeclarations: false },
        ...{ declaration: false, types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
      },
      include: ['*.ts', join(ROOT, 'src/base/ecmascript.d.ts')],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', folder], { encoding: 'utf8' })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })

  for (const [heading, prints] of Object.entries(PRINTS)) {
    it.skipIf(prints === undefined)(heading, async () => {
      const env = { ...process.env, PETREL_HOME: join(folder, 'home') }
      const { stdout } = await run(process.execPath, [fileOf(heading)], { env })
      expect(stdout).toMatch(prints as RegExp)
    })
  }
})
