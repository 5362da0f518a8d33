/**
 * A lock file that one process holds: its number, when it started, and a sum of both: a flipped bit must not make a living holder a dead
 * one. A lock whose process is gone is taken over by one of
 * those that want it: who first has a claim on just that dead holder. The lock appears with its whole content or not at all.
 *
 *   absent --link--> ours        dead --claim, look again, rename--> ours
 */

import { createHash, randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { unlessThrown } from '../../src/base/errors.ts'
import { PlatformError, systemCode } from './errors.ts'

const HASH_LENGTH = 16
const SUM_LENGTH = 16

/** When a process started, in the kernel's own count; empty where it cannot be known. Tells a reused process number. */
function startOf(pid: number): string {
  const text = unlessThrown(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), Error) ?? ''
  // Field 22; the second one, in parentheses, may hold spaces. @see proc(5)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
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

/**
 * Number of the process that holds a lock; undefined: none does. This process's own is not seen.
 * @throws PlatformError `HOME_UNREADABLE`: it is damaged
 */
export function lockHolder(path: string): number | undefined {
  const lock = textOf(path)
  return lock === undefined ? undefined : livingHolder(lock, path)
}

/** Gives a file a second name; false when that is taken. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

/**
 * Takes the lock.
 * @returns undefined when this process has it; else the number of the process that has it
 * @throws PlatformError `HOME_UNREADABLE`: it is damaged
 */
export function takeLock(path: string): number | undefined {
  const own = `${path}.${process.pid}-${randomUUID()}`
  const holder = `${process.pid} ${startOf(process.pid)}`
  writeFileSync(own, `${holder} ${sumOf(holder)}\n`, { mode: 0o600 })
  try {
    for (;;) {
      if (tryLink(own, path)) return undefined
      const held = textOf(path)
      if (held === undefined) continue
      const living = livingHolder(held, path) ?? takeOver(path, held, own)
      if (living === TAKEN) return undefined
      if (living !== undefined) return living
    }
  } finally {
    rmSync(own, { force: true })
  }
}

const TAKEN = -1

/** @returns {@link TAKEN}; a living process that takes it over; undefined: look again */
function takeOver(path: string, held: string, own: string): number | undefined {
  // A claim's owner may die, too: then the claim is on that one.
  const dead = [held]
  for (;;) {
    const name = createHash('sha256').update(dead.join()).digest('hex').slice(0, HASH_LENGTH)
    const claim = `${path}.claim-${name}`
    if (tryLink(own, claim)) {
      try {
        // Whoever else saw this holder dead has no claim, so the lock stays as it is now.
        if (textOf(path) !== held) return undefined
        renameSync(own, path)
        return TAKEN
      } finally {
        rmSync(claim, { force: true })
      }
    }
    const other = textOf(claim)
    if (other === undefined) return undefined
    const pid = livingHolder(other, claim)
    if (pid !== undefined) return pid
    dead.push(other)
  }
}
