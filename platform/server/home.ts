/**
 * Petrel's home folder: `config.json`, `token` and `api` (0600), `keystore/` (0700), `chain/`, `snapshots/`, `actors/`, `proofs/`,
 * `logs/`, `petrel.lock`.
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { PlatformError, systemCode } from './errors.ts'

/** Name of the environment variable that says where the home is. */
export const HOME_VARIABLE = 'PETREL_HOME'

/** Absolute path of the home: what the command line says, else `$PETREL_HOME`, else `~/.petrel`. */
export function homePath(repo: string | undefined, environment: Readonly<Record<string, string | undefined>>): string {
  const named = repo ?? environment[HOME_VARIABLE]
  if (named === undefined || named === '') return join(homedir(), '.petrel')
  return resolve(named.startsWith('~/') ? join(homedir(), named.slice(2)) : named)
}

/** Text of a file; undefined when there is none. */
export function readTextFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined
    throw new PlatformError('HOME_UNREADABLE', `Cannot read ${path}: ${systemCode(cause)}`, { path }, { cause })
  }
}

/** Writes a file in one step, for the owner only: after a crash it holds the old content or the new one. */
export function writeFile(path: string, content: string | Uint8Array): void {
  const temporary = `${path}${UNFINISHED}${process.pid}`
  try {
    const file = openSync(temporary, 'w', 0o600)
    try {
      writeFileSync(file, content)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Part of the name of a file that is being written. */
const UNFINISHED = '.tmp-'

/** When a process started, in the kernel's own count; empty where it cannot be known. Tells a reused process number. */
function startOf(pid: number): string {
  try {
    // Field 22; the second one, in parentheses, may hold spaces. @see proc(5)
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

/** Whether the process that wrote this lock still lives. */
function isHeld(lock: string): boolean {
  const [pidText, start = ''] = lock.trim().split(' ')
  const pid = Number(pidText)
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid || !isRunning(pid)) return false
  return start === '' || startOf(pid) === start
}

/** A home that this process alone uses. */
export class Home {
  readonly path: string
  readonly config: string
  readonly token: string
  readonly api: string
  readonly keystore: string
  readonly chain: string
  readonly snapshots: string
  readonly actors: string
  readonly proofs: string
  readonly logs: string

  /** Only the names: nothing is created or locked. */
  constructor(path: string) {
    this.path = path
    this.config = join(path, 'config.json')
    this.token = join(path, 'token')
    this.api = join(path, 'api')
    this.keystore = join(path, 'keystore')
    this.chain = join(path, 'chain')
    this.snapshots = join(path, 'snapshots')
    this.actors = join(path, 'actors')
    this.proofs = join(path, 'proofs')
    this.logs = join(path, 'logs')
  }

  get #lock(): string {
    return join(this.path, 'petrel.lock')
  }

  /**
   * Creates the folders and takes the lock. A lock whose process is gone (kill -9) is taken over.
   * @throws PlatformError HOME_IN_USE
   */
  acquire(): void {
    for (const folder of [this.path, this.keystore]) mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const folder of [this.chain, this.snapshots, this.actors, this.logs]) mkdirSync(folder, { recursive: true })
    const content = `${process.pid} ${startOf(process.pid)}\n`
    for (;;) {
      try {
        const file = openSync(this.#lock, 'wx', 0o600)
        writeSync(file, content)
        closeSync(file)
        return
      } catch (cause) {
        if (systemCode(cause) !== 'EEXIST') throw cause
        const held = readTextFile(this.#lock)
        if (held !== undefined && isHeld(held)) {
          const pid = Number(held.split(' ')[0])
          const text = `Cannot use ${this.path}: a node with process number ${pid} is running on it`
          throw new PlatformError('HOME_IN_USE', text, { path: this.path, pid }, { cause })
        }
        rmSync(this.#lock, { force: true })
      }
    }
  }

  /** Gives the lock back and removes the `api` file: no node listens any more. */
  release(): void {
    rmSync(this.api, { force: true })
    rmSync(this.#lock, { force: true })
  }
}
