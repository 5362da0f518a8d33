/** Starts the `petrel` program in a runtime as a process of its own, and stops it, gently or not. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { denoPath } from '../support/deno.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** How each runtime starts the program. */
export const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  node: [process.execPath, join(ROOT, 'bin/petrel.js')],
  deno: [
    denoPath(),
    'run',
    '-A',
    '--v8-flags=--stack-size=7000,--no-allocation-site-pretenuring',
    join(ROOT, 'platform/deno/main.ts'),
  ],
}

/** What `npm run prepack` built, as it is installed: less to load than the sources. */
const PACKAGE: readonly string[] = [process.execPath, join(ROOT, 'dist/node/main.js')]

/** A running program. */
export interface NodeProcess {
  readonly url: string
  /** With all permissions. */
  readonly token: string
  /** From the command to the first answer that can be asked for, ms. */
  readonly startMs: number
  readonly pid: number
  /** Its exit code, when it has ended; null: by a signal that it does not hear. */
  readonly exited: Promise<number | null>
  /** Everything it printed so far. */
  output(): string
  /** SIGTERM, as an operator does. @returns its exit code */
  stop(): Promise<number | null>
  /** SIGKILL, as nobody should. */
  kill(): Promise<void>
}

/**
 * Starts `petrel --repo <home> <args>` and waits until it serves.
 * @param runtime - of {@link RUNTIMES}, or `package`: in Node, what `npm run prepack` built
 * @param home - folder; `token` and `api` appear in it
 * @param env - beside what this process has
 */
export async function startNode(
  runtime: string,
  home: string,
  args: readonly string[],
  timeoutMs = 60_000,
  env: Readonly<Record<string, string>> = {},
): Promise<NodeProcess> {
  const command = runtime === 'package' ? PACKAGE : RUNTIMES[runtime]
  if (command === undefined) throw new RangeError(`no runtime ${runtime}`)
  const apiFile = join(home, 'api')
  rmSync(apiFile, { force: true })
  const started = performance.now()
  const child = spawn(command[0] as string, [...command.slice(1), '--repo', home, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // a group of its own, so that whatever it starts ends with it
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8')
    })
  }
  const exited = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)))
  for (;;) {
    if (child.exitCode !== null) throw new Error(`petrel in ${runtime} ended with ${child.exitCode}:\n${output}`)
    if (existsSync(apiFile) && output.includes('JSON-RPC on')) break
    if (performance.now() - started > timeoutMs) {
      signalGroup(child, 'SIGKILL')
      throw new Error(`petrel in ${runtime} did not start in ${timeoutMs} ms:\n${output}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const [, , host, , port] = readFileSync(apiFile, 'utf8').trim().split('/')
  return {
    url: `http://${host}:${port}`,
    token: readFileSync(join(home, 'token'), 'utf8').trim(),
    startMs: performance.now() - started,
    pid: child.pid as number,
    exited,
    output: () => output,
    stop: async () => {
      signalGroup(child, 'SIGTERM')
      return await exited
    },
    kill: async () => {
      signalGroup(child, 'SIGKILL')
      await exited
    },
  }
}

/** A local chain that meets nobody, in Node: native actors, a block each half second. @param home - as of {@link startNode} */
export function startLocalChain(home: string): Promise<NodeProcess> {
  const flags = ['--no-net', '--actors', 'native', '--block-time', '0.5']
  return startNode('node', home, ['devnet', '--api', '0', ...flags])
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid as number), signal)
  } catch {
    // it has ended by itself
  }
}
