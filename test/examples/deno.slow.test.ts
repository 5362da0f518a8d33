/** examples/deno: each task names its permissions; the local chain runs with just these, and without any one of them it does not. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { denoPath } from '../support/deno.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { ROOT } from '../support/shared.ts'

const FOLDER = join(ROOT, 'examples/deno')
const START_MS = 60_000

interface Task {
  readonly command: string
}

const { tasks } = JSON.parse(readFileSync(join(FOLDER, 'deno.json'), 'utf8')) as { tasks: Record<string, Task> }

let children: ChildProcess[] = []
let folders: string[] = []

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null) continue
    const ended = once(child, 'exit')
    if (child.kill('SIGKILL')) await ended
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  children = []
  folders = []
})

/** What is looked at once a second begins only then. */
const EPOCHS = 3

/** Runs a task with its data in a folder of its own. @returns whether blocks were made and it tells its figures, and what was printed */
async function runDevnet(without?: string): Promise<{ readonly works: boolean; readonly output: string }> {
  const data = mkdtempSync(join(tmpdir(), 'petrel-deno-'))
  folders.push(data)
  const args = (tasks.devnet as Task).command
    .split(' ')
    .slice(1)
    .filter((arg) => without === undefined || !arg.startsWith(without))
    .map((arg) => arg.replace(/(?<=^|[=,])data(?=$|[,/])/g, data))
  const child = spawn(denoPath(), [...args, '--api', '0', '--block-time', '1'], {
    cwd: FOLDER,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const deadline = Date.now() + START_MS
  while (Date.now() < deadline) {
    if (child.exitCode !== null || /Requires \w+ access|NotCapable/.test(output)) return { works: false, output }
    const url = /JSON-RPC on (http:\/\/[\d.:]+)/.exec(output)?.[1]
    if (url !== undefined && (await new RpcClient(url).call('ChainHead')).Height >= EPOCHS) {
      return { works: (await fetch(`${url}/debug/metrics`)).ok, output }
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return { works: false, output }
}

describe('examples/deno', () => {
  it('gives no task all permissions, and none the right to start programs', () => {
    for (const [name, { command }] of Object.entries(tasks)) {
      expect(command, name).not.toMatch(/ -A|--allow-all|--allow-run|--allow-write( |$)|--allow-read( |$)/)
      expect(command, name).toContain('--no-prompt')
    }
  })

  it('runs a local chain with the permissions of its task', { timeout: 90_000 }, async () => {
    const { works, output } = await runDevnet()
    expect(output).not.toMatch(/Requires|NotCapable/)
    expect(works, output).toBe(true)
  })

  it.each(['--allow-read', '--allow-write', '--allow-net', '--allow-ffi', '--allow-sys', '--allow-env'])(
    'needs %s',
    { timeout: 90_000 },
    async (flag) => {
      expect((await runDevnet(flag)).works).toBe(false)
    },
  )
})
