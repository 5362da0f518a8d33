/**
 * The npm package: `npm pack`, `npm install` of the tarball in an empty folder, the installed `petrel` runs a local chain
 * and answers. Ends with `N passed, N failed, N skipped`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ROOT } from '../support/shared.ts'

const START_TIMEOUT_MS = 60_000

const folder = mkdtempSync(join(tmpdir(), 'petrel-pack-'))
const app = join(folder, 'app')
const home = join(folder, 'home')
/** The Node that runs this test goes before the machine's. */
const environment = {
  ...process.env,
  PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
  PETREL_HOME: home,
}
let passed = 0
let failed = 0

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env: environment, encoding: 'utf8' })
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(' ')}: status ${status}\n${stdout}${stderr}${error?.message ?? ''}`)
}

async function check(name: string, body: () => unknown): Promise<void> {
  try {
    await body()
    passed++
    console.log(`ok   ${name}`)
  } catch (error) {
    failed++
    console.log(`FAIL ${name}\n${error instanceof Error ? error.stack : String(error)}`)
  }
}

function expect(isTrue: boolean, message: string): void {
  if (!isTrue) throw new Error(message)
}

function petrel(...args: string[]): string {
  return run(join(app, 'node_modules/.bin/petrel'), args, app)
}

/** Runs `petrel devnet` until it listens, does `body`, and stops it. */
async function withDevnet(body: () => unknown): Promise<void> {
  const node = spawn(join(app, 'node_modules/.bin/petrel'), ['devnet', '--api', '0', '--block-time', '1'], {
    cwd: app,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = new Promise<never>((_resolve, reject) => {
    node.on('exit', (status) => reject(new Error(`petrel devnet ended with ${status}\n${output}`)))
  })
  ended.catch(() => undefined)
  const ready = (async () => {
    const end = Date.now() + START_TIMEOUT_MS
    while (!readdirIfThere(home).includes('api')) {
      if (Date.now() > end) throw new Error(`petrel devnet does not listen\n${output}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()
  for (const stream of [node.stdout, node.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  try {
    await Promise.race([ready, ended])
    await body()
  } finally {
    node.kill('SIGTERM')
    await ended.catch(() => undefined)
  }
}

function readdirIfThere(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

try {
  let tarball = ''
  await check('npm pack', () => {
    run('npm', ['pack', '--pack-destination', folder, '--ignore-scripts=false'], ROOT)
    tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
    expect(tarball !== '', 'no tarball')
  })
  await check('npm install of the tarball in an empty folder', () => {
    mkdirSync(app)
    writeFileSync(join(app, 'package.json'), '{"private":true}')
    run('npm', ['install', '--no-audit', '--no-fund', join(folder, tarball)], app)
  })
  await check('the package holds built JavaScript only', () => {
    const names = readdirSync(join(app, 'node_modules/petrel'), { recursive: true, encoding: 'utf8' })
    expect(
      names.every((name) => !name.endsWith('.ts')),
      `TypeScript in the package: ${names.join(' ')}`,
    )
    expect(names.includes(join('dist', 'petrel.js')), 'no dist/petrel.js')
  })
  await check('petrel --version', () => {
    expect(/^\d+\.\d+\.\d+\s*$/.test(petrel('--version')), 'not a version')
  })
  await check('petrel devnet answers', () =>
    withDevnet(() => {
      expect(petrel('chain', 'head').trim().length > 0, 'no head')
      expect(petrel('wallet', 'list').includes('t'), 'no wallet')
    }),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`)
process.exitCode = failed === 0 ? 0 : 1
