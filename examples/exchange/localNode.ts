/** A local chain as a process, in a folder of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, type Rpc } from './rpc.ts'

const PROGRAM = fileURLToPath(new URL('bin/petrel.js', import.meta.resolve('petrel/package.json')))

/** A running node. */
export interface LocalNode {
  readonly rpc: Rpc
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>
}

/** Starts `petrel devnet`; blocks come only when `DevnetMine` is called. */
export async function startLocalNode(home: string): Promise<LocalNode> {
  const api = join(home, 'api')
  rmSync(api, { force: true })
  const child = spawn(process.execPath, [PROGRAM, '--repo', home, 'devnet', '--api', '0', '--manual'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  while (!existsSync(api)) {
    if (child.exitCode !== null) throw new Error(`the node ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const [, , host, , port] = readFileSync(api, 'utf8').trim().split('/')
  return {
    rpc: connect(`http://${host}:${port}`, readFileSync(join(home, 'token'), 'utf8').trim()),
    kill: async () => {
      const ended = once(child, 'exit')
      if (child.exitCode === null && child.kill('SIGKILL')) await ended
    },
  }
}
