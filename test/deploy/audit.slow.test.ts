/** `npm run audit` with npm itself, and a registry that answers what the test says. */
import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { knownHoles } from '../../scripts/knownHoles.ts'
import { ROOT } from '../support/shared.ts'

/** A dependency that no other one has. */
const NAME = 'fzstd'
const ADVISORY = {
  id: 1,
  url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
  title: 'it reads beyond its input',
  severity: 'high',
  vulnerable_versions: '<1000.0.0',
  cwe: [],
  cvss: { score: 0, vectorString: null },
}

const LINE = `GHSA-aaaa-bbbb-cccc (high): ${NAME} <1000.0.0: it reads beyond its input`

let registry: Server | undefined
afterEach(() => void registry?.close())

/** @param answer - to the names and versions that are asked about @returns the script's exit code, and all that it prints */
async function audit(answer: (asked: Record<string, string[]>) => object | number): Promise<[number | null, string]> {
  registry = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const isQuestion = request.method === 'POST' && request.url === '/-/npm/v1/security/advisories/bulk'
      const body = Buffer.concat(parts)
      const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
      const said = isQuestion ? answer(JSON.parse(text.toString()) as Record<string, string[]>) : 404
      response.writeHead(typeof said === 'number' ? said : 200, { 'Content-Type': 'application/json' })
      response.end(typeof said === 'number' ? '' : JSON.stringify(said))
    })
  })
  await new Promise<void>((resolve) => registry?.listen(0, '127.0.0.1', resolve))
  const { port } = registry.address() as AddressInfo
  const child = spawn(process.execPath, ['scripts/audit.ts'], {
    cwd: ROOT,
    env: { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()))
  return await new Promise((resolve) => child.on('close', (status) => resolve([status, output])))
}

describe('npm run audit', () => {
  it('asks about all that the lock names, and is content where nothing is known', async () => {
    let names: string[] = []
    const [status, output] = await audit((asked) => {
      names = Object.keys(asked)
      return {}
    })
    expect([status, output]).toEqual([0, '0 known holes that are explained, 0 complaints\n'])
    for (const name of [NAME, 'lmdb', '@noble/curves', 'vitest']) expect(names).toContain(name)
  }, 60_000)

  it('fails for a hole that is not explained', async () => {
    const [status, output] = await audit(() => ({ [NAME]: [ADVISORY] }))
    expect(status).toBe(1)
    expect(output).toContain(`${LINE}\n`)
    expect(output).toContain('1 complaints')
  }, 60_000)

  it('says that it was skipped where the registry does not answer that question', async () => {
    expect(await audit(() => 405)).toEqual([0, 'skipped: the registry answers 405\n'])
  }, 60_000)

  it('lets a hole be that is explained, and no explanation of one that is gone', () => {
    const { url, title, severity } = ADVISORY
    const via = [{ name: NAME, url, title, severity, range: ADVISORY.vulnerable_versions }, 'another']
    const explained = { 'GHSA-aaaa-bbbb-cccc': 'nothing reads it' }
    expect(knownHoles({ [NAME]: { via } }, explained)).toEqual({
      explained: [`${LINE}: nothing reads it`],
      complaints: [],
    })
    expect(knownHoles({}, explained).complaints).toEqual(['GHSA-aaaa-bbbb-cccc is explained, and is there no more'])
  })
})
