/**
 * A lock that one process holds. Who holds it is a transaction of SQLite on an empty file beside it, `<lock>.db`, which the kernel ends
 * with the process: numbers of processes say nothing across containers, in each of which a node has number 1. The file itself names the
 * holder: its number, when it started, and a sum of both. Earlier versions have that file alone, so a living process that it names
 * holds the lock, too. A flipped bit must not make a living holder a dead one.
 *
 * The empty file stays: who removed it would leave the lock to whoever has it open and to whoever makes it anew.
 * @see https://www.sqlite.org/lockingv3.html
 */

import { createHash } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { errorMessage, unlessThrown } from '../../src/base/errors.ts'
import { PlatformError, systemCode } from './errors.ts'

const SUM_LENGTH = 16
/** Who only looks whether a lock is held has it for microseconds; a taker waits that long. */
const LOOK_MS = 500
/** What SQLite says of a file that another process has locked, as Node and as Deno give it. */
const LOCKED = 'database is locked'

/** A process that holds a lock and is not to be seen from here: in another container, or of another machine. */
export const ELSEWHERE = -1

/** Transactions of this process, by the path of their lock. */
const held = new Map<string, DatabaseSync>()

/** Fields of a process from the third on, its state; none where they cannot be known. @see proc(5) */
function statOf(pid: number): string[] {
  const text = unlessThrown(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), Error) ?? ''
  // The second one, in parentheses, may hold spaces.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** When a process started, in the kernel's own count; empty where it cannot be known. Tells a reused process number. */
function startOf(pid: number): string {
  return statOf(pid)[19] ?? ''
}

/** A process that was killed keeps its number until its parent has asked how it ended, which may be late or never. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return statOf(pid)[0] !== 'Z'
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

function sumOf(text: string): string {
  return `sum-${createHash('sha256').update(text).digest('hex').slice(0, SUM_LENGTH)}`
}

/** As earlier versions wrote it; or what a loss of power leaves of a file. */
const WITHOUT_SUM = /^(\d+ ?\d*|\0*)$/

/**
 * Number of the process that wrote this lock, if it still lives.
 * @throws PlatformError `HOME_UNREADABLE`: the lock is not as any process wrote it
 */
function livingHolder(lock: string, path: string): number | undefined {
  const text = lock.trim()
  const [pidText = '', start = '', sum] = text.split(' ')
  if (sum === undefined ? !WITHOUT_SUM.test(text) : sum !== sumOf(`${pidText} ${start}`)) {
    const message = `Cannot use ${path}: it is damaged, and does not say which process has it. Remove it when no node runs on this home`
    throw new PlatformError('HOME_UNREADABLE', message, { path })
  }
  const pid = Number(pidText)
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid || !isRunning(pid)) return undefined
  return start === '' || startOf(pid) === start ? pid : undefined
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The living process that the file names. @throws PlatformError `HOME_UNREADABLE`: it is damaged */
function namedHolder(path: string): number | undefined {
  const lock = textOf(path)
  return lock === undefined ? undefined : livingHolder(lock, path)
}

const fileOf = (path: string): string => `${path}.db`

/**
 * Runs a statement on the empty file.
 * @returns its connection; undefined: another process has it locked
 * @throws PlatformError `HOME_UNREADABLE`: what SQLite says of the file, or of its file system
 */
function locked(path: string, statement: string, options: { readonly readOnly: boolean }): DatabaseSync | undefined {
  // Not imported: all that only ask a node would load it.
  const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite')
  let database: DatabaseSync | undefined
  try {
    database = new Database(fileOf(path), { ...options, timeout: LOOK_MS })
    // Else it would begin a journal, which a kill would leave.
    database.exec('PRAGMA journal_mode = MEMORY')
    database.prepare(statement).all()
    return database
  } catch (cause) {
    database?.close()
    const reason = errorMessage(cause)
    if (reason.includes(LOCKED)) return undefined
    throw new PlatformError('HOME_UNREADABLE', `Cannot lock ${fileOf(path)}: ${reason}`, { path }, { cause })
  }
}

/** SQLite gives who may only read a lock that others can have as well, without a word. */
function assertWritable(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  try {
    accessSync(file, constants.W_OK)
  } catch (error) {
    // Deno asks for a permission of its own before it tells.
    if (systemCode(error) !== '') throw error
  }
}

function isHeldByOther(path: string): boolean {
  if (held.has(path) || !existsSync(fileOf(path))) return false
  const database = locked(path, 'SELECT 1 FROM sqlite_schema', { readOnly: true })
  database?.close()
  return database === undefined
}

/**
 * Number of the process that holds a lock, or {@link ELSEWHERE}; undefined: none does. This process's own is not seen.
 * @throws PlatformError `HOME_UNREADABLE`: it is damaged, or cannot be locked
 */
export function lockHolder(path: string): number | undefined {
  return namedHolder(path) ?? (isHeldByOther(path) ? ELSEWHERE : undefined)
}

/**
 * Takes the lock, until {@link releaseLock} or the end of the process.
 * @returns undefined when this process has it; else the number of the process that has it, or {@link ELSEWHERE}
 * @throws PlatformError `HOME_UNREADABLE`: it is damaged, or cannot be locked
 */
export function takeLock(path: string): number | undefined {
  if (!held.has(path)) assertWritable(fileOf(path))
  const transaction = held.get(path) ?? locked(path, 'BEGIN EXCLUSIVE', { readOnly: false })
  if (transaction === undefined) return namedHolder(path) ?? ELSEWHERE
  try {
    const holder = namedHolder(path)
    if (holder !== undefined) return holder
    nameHolder(path)
    held.set(path, transaction)
    return undefined
  } finally {
    if (!held.has(path)) transaction.close()
  }
}

/** In one step, so that whoever reads the file reads all of it. */
function nameHolder(path: string): void {
  const holder = `${process.pid} ${startOf(process.pid)}`
  const unfinished = `${path}.tmp-${process.pid}`
  writeFileSync(unfinished, `${holder} ${sumOf(holder)}\n`, { mode: 0o600 })
  renameSync(unfinished, path)
}

/** Gives back a lock of this process; one that it does not have stays whose it is. */
export function releaseLock(path: string): void {
  const transaction = held.get(path)
  if (transaction === undefined) return
  rmSync(path, { force: true })
  held.delete(path)
  transaction.close()
}
