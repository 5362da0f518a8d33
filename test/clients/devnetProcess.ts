/** A local chain in a process of its own: what a client of the network sees. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/shared.ts'

const READY = 'JSON-RPC on '

/** A running chain that makes a block for every message. */
export interface DevnetProcess {
  /** `http://127.0.0.1:port` */
  readonly url: string
  /** With all permissions. */
  readonly token: string
  close(): Promise<void>
}

/** Starts `petrel devnet --memory --instant` on a free port. */
export async function startDevnetProcess(): Promise<DevnetProcess> {
  const home = mkdtempSync(join(tmpdir(), 'petrel-clients-'))
  const args = [
    '--repo',
    home,
    '--api',
    '0',
    '--memory',
    '--instant',
    '--no-net',
    '--actors',
    'native',
    '--block-time',
    '1',
  ]
  const child = spawn(process.execPath, [join(ROOT, 'bin/petrel.js'), 'devnet', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await ready(child)
  const api = readFileSync(join(home, 'api'), 'utf8').trim()
  const port = api.split('/')[4] as string
  return {
    url: `http://127.0.0.1:${port}`,
    token: readFileSync(join(home, 'token'), 'utf8').trim(),
    close: async () => {
      child.kill('SIGTERM')
      await ended
      if (existsSync(home)) rmSync(home, { recursive: true })
    },
  }
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    const hear = (chunk: Buffer): void => {
      said += chunk.toString('utf8')
      if (said.includes(READY)) resolve()
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('exit', (code) => reject(new Error(`devnet ended with ${String(code)}: ${said}`)))
  })
}
