/** A local chain as a process, in a temporary folder; blocks come when they are asked for. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../src/rpc/client/client.ts'
import { fetchPost, httpTransport } from '../../src/rpc/client/httpTransport.ts'
import type { RpcTransport } from '../../src/rpc/client/transport.ts'
import { chainHead } from '../../src/rpc/signatures/chain.ts'
import { version } from '../../src/rpc/signatures/common.ts'
import { devnetAccounts, devnetMine } from '../../src/rpc/signatures/devnet.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/petrel.js')
const METHODS = { ChainHead: chainHead, DevnetMine: devnetMine, DevnetAccounts: devnetAccounts, Version: version }

const FLAGS = ['--api', '0', '--memory', '--manual', '--miners', '5', '--accounts', '4', '--log', 'warn']

/** A running local chain. */
export interface LocalChain {
  /** `http://127.0.0.1:port`. */
  readonly url: string
  readonly home: string
  readonly transport: RpcTransport
  readonly node: ReturnType<typeof createClient<typeof METHODS>>
  stop(): Promise<void>
}

/**
 * @param origin - of the page that may ask it
 * @param age - seconds since genesis
 */
export async function startLocalChain(origin: string, age: number): Promise<LocalChain> {
  const home = mkdtempSync(join(tmpdir(), 'petrel-monitor-'))
  const genesis = String(Math.floor(Date.now() / 1000) - age)
  const flags = [...FLAGS, '--genesis-time', genesis, '--cors-origin', origin]
  const child = spawn(process.execPath, [PROGRAM, '--repo', home, 'devnet', ...flags], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const stop = async (): Promise<void> => {
    await endChild(child)
    rmSync(home, { recursive: true, force: true })
  }
  const api = join(home, 'api')
  while (!existsSync(api)) {
    if (child.exitCode !== null) {
      await stop()
      throw new Error(`the node ended with ${child.exitCode}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const [, , host, , port] = readFileSync(api, 'utf8').trim().split('/')
  const url = `http://${host}:${port}`
  const token = readFileSync(join(home, 'token'), 'utf8').trim()
  const transport = httpTransport(fetchPost(fetch, `${url}/rpc/v1`, token))
  return { url, home, transport, node: createClient(transport, METHODS), stop }
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
