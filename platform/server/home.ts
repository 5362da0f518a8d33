/**
 * Petrel's home folder: `config.toml`, `config.json`, `token` and `api` (0600), `keystore/` (0700), `chain/`, `snapshots/`, `actors/`, `proofs/`,
 * `logs/`, `petrel.lock`, `petrel.lock.db`.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { errorMessage } from '../../src/base/errors.ts'
import { PlatformError, systemCode } from './errors.ts'
import { ELSEWHERE, releaseLock, takeLock } from './homeLock.ts'

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
/** Folder in a home that is being restored. */
export const RESTORING = '.restoring'
/** Bits that let anyone but the owner write. */
const OTHERS_WRITE = 0o022

/** What a kill leaves of a file that was being written may hold a token. Only with the lock: nobody else writes here. */
function sweepUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (/\.tmp-\d+$/.test(name)) rmSync(join(folder, name), { force: true })
  }
}

/** Asked of the nearest folder that is there: for one that is not, mkdir says ENOENT, whatever the reason. */
function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch (error) {
    const code = systemCode(error)
    return code === 'ENOENT' && dirname(path) !== path ? isReadOnly(dirname(path)) : code === 'EROFS'
  }
}

/** A home that this process alone uses. */
export class Home {
  readonly path: string
  readonly config: string
  /** The options of its node, for people. */
  readonly settings: string
  readonly token: string
  readonly api: string
  readonly keystore: string
  readonly chain: string
  /** Where messages lie. */
  readonly messages: string
  readonly snapshots: string
  readonly actors: string
  readonly proofs: string
  readonly logs: string

  /** Only the names: nothing is created or locked. */
  constructor(path: string) {
    this.path = path
    this.config = join(path, 'config.json')
    this.settings = join(path, 'config.toml')
    this.token = join(path, 'token')
    this.api = join(path, 'api')
    this.keystore = join(path, 'keystore')
    this.chain = join(path, 'chain')
    this.messages = join(path, 'messages')
    this.snapshots = join(path, 'snapshots')
    this.actors = join(path, 'actors')
    this.proofs = join(path, 'proofs')
    this.logs = join(path, 'logs')
  }

  /** See homeLock.ts. */
  get lock(): string {
    return join(this.path, 'petrel.lock')
  }

  /**
   * Creates the folders and takes the lock. A lock whose process is gone (kill -9) is taken over.
   * @throws PlatformError HOME_IN_USE; HOME_UNREADABLE when others may write to it, or we cannot
   */
  acquire(): void {
    const holder = this.#writing(() => this.#take())
    if (holder === undefined) return
    const who =
      holder === ELSEWHERE
        ? 'another process, in another container or on another machine,'
        : `a node with process number ${holder}`
    const text = `Cannot use ${this.path}: ${who} is running on it`
    throw new PlatformError('HOME_IN_USE', text, { path: this.path, pid: holder })
  }

  /** @returns who has the lock; undefined: we do */
  #take(): number | undefined {
    this.#assertWhole()
    for (const folder of [this.path, this.keystore]) mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const folder of [this.chain, this.snapshots, this.actors, this.logs]) mkdirSync(folder, { recursive: true })
    this.#assertOurs()
    const holder = takeLock(this.lock)
    if (holder === undefined) sweepUnfinished(this.path)
    return holder
  }

  /** What the system says of a home that cannot be written. */
  #writing<T>(run: () => T): T {
    try {
      return run()
    } catch (cause) {
      const reason = systemCode(cause)
      if (cause instanceof PlatformError || reason === '') throw cause
      const what = isReadOnly(this.path)
        ? 'its file system is read-only'
        : `it cannot be written to: ${errorMessage(cause)}`
      throw new PlatformError(
        'HOME_UNREADABLE',
        `Cannot use ${this.path}: ${what}`,
        { path: this.path, reason },
        { cause },
      )
    }
  }

  /** @throws PlatformError HOME_UNREADABLE */
  #assertWhole(): void {
    if (!existsSync(join(this.path, RESTORING))) return
    const text = `Cannot use ${this.path}: \`petrel restore\` was interrupted, or runs; empty the folder and restore again`
    throw new PlatformError('HOME_UNREADABLE', text, { path: this.path })
  }

  /** Who may write here can put another chain or another key in the place of ours. */
  #assertOurs(): void {
    const { mode } = statSync(this.path)
    if (process.platform === 'win32' || (mode & OTHERS_WRITE) === 0) return
    const seen = (mode & 0o777).toString(8).padStart(4, '0')
    const text = `Cannot use ${this.path}: others may write to it (mode ${seen}); say: chmod 700 ${this.path}`
    throw new PlatformError('HOME_UNREADABLE', text, { path: this.path })
  }

  /** Gives the lock back and removes the `api` file: no node listens any more. */
  release(): void {
    rmSync(this.api, { force: true })
    releaseLock(this.lock)
  }
}
