/** Processes that hold secrets, and a look for these wherever they do not belong. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'
import { fromBase64, toBase64Url, toHex } from '../../../src/base/bytes.ts'
import { type Answer, RpcClient } from '../../support/rpcClient.ts'

export const PROGRAM: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('../../../bin/petrel.js', import.meta.url)),
]

/** A process that serves. */
export interface Holder {
  readonly client: RpcClient
  readonly url: string
  /** As its file `api` has it. */
  readonly multiaddr: string
  readonly token: string
  output(): string
  stop(): Promise<void>
}

/** A folder for the homes, and what ends their processes and deletes it after the tests of a file. */
export function secretsFolder(): {
  readonly folder: string
  /**
   * Starts `petrel --repo <home> <args>` under the umask that hides nothing; `look` is called again and again until it serves.
   * @param path - of the API
   */
  readonly start: (
    home: string,
    args: readonly string[],
    options?: { env?: Record<string, string>; look?(): void; path?: 'v0' | 'v1' },
  ) => Promise<Holder>
} {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-secrets-'))
  const children: ChildProcess[] = []
  afterAll(() => {
    for (const child of children)
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    folder,
    start: async (home, args, { env = {}, look = () => undefined, path = 'v1' } = {}) => {
      const command = [...PROGRAM, '--repo', home, ...args]
      const child = spawn('sh', ['-c', 'umask 000; exec "$@"', 'sh', ...command], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      children.push(child)
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
      const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
      while (!/JSON-RPC on|signer on/.test(output)) {
        if (child.exitCode !== null) throw new Error(output)
        look()
        await new Promise((resolve) => setImmediate(resolve))
      }
      look()
      const token = readFileSync(join(home, 'token'), 'utf8').trim()
      const multiaddr = readFileSync(join(home, 'api'), 'utf8').trim()
      const [, , host, , port] = multiaddr.split('/')
      const url = `http://${host}:${port}`
      return {
        client: new RpcClient(url, token, path),
        ...{ url, multiaddr, token },
        output: () => output,
        stop: () => {
          process.kill(-(child.pid as number), 'SIGTERM')
          return ended
        },
      }
    },
  }
}

/** Calls that must fail, and the texts of their answers: what is in them is looked through. */
export function refusals(client: RpcClient, texts: string[]): (method: string, ...params: unknown[]) => Promise<void> {
  return async (method, ...params) => {
    const answer: Answer = await client.raw(method, params)
    expect(answer.error, method).toBeDefined()
    texts.push(JSON.stringify(answer))
  }
}

/** All texts that a key in Lotus' JSON may be written as. */
export function keyTexts(base64: string): string[] {
  const bytes = fromBase64(base64)
  return [base64, base64.replace(/=+$/, ''), toHex(bytes), toBase64Url(bytes), Buffer.from(bytes).toString('latin1')]
}

/** A token as the API gives it: itself, or base64 of it, as JSON of Go's bytes. */
export function bearerOf(token: string): string {
  const words = Buffer.from(token, 'base64').toString()
  return words.split('.').length === 3 ? words : token
}

/** Every file below a folder. */
export function filesIn(path: string): string[] {
  return existsSync(path)
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : []
}

/** Fails where a secret stands in a text, or in a file of a home but for its own token in the file `token`. */
export function expectNowhere(secrets: readonly string[], texts: readonly string[], homes: readonly string[]): void {
  for (const text of texts) for (const one of secrets) expect(text.includes(one), `${one} in ${text}`).toBe(false)
  for (const home of homes) {
    const files = filesIn(home)
    expect(files.length).toBeGreaterThan(2)
    const own = readFileSync(join(home, 'token'), 'utf8').trim()
    for (const file of files) {
      const content = readFileSync(file).toString('latin1')
      const allowed = file === join(home, 'token') ? own : undefined
      for (const one of secrets) if (one !== allowed) expect(content.includes(one), `${one} in ${file}`).toBe(false)
    }
  }
}
