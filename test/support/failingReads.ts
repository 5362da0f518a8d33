/**
 * Faults of a disk, for a process that is started with `--import` of this file: while the file that `FAILING_READS` names is there, one
 * of so many reads as it says (`1`: all) fails with EIO, of LMDB's tables and of archives (`.car`). LMDB maps its file, so what a disk
 * does there is seen at LMDB's door; archives are read by the kernel. While the file that `FAILING_COMMITS` names is there, LMDB's commits
 * fail so, all of them.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { openLmdbBy } from './lmdbDoor.ts'

const { FAILING_READS: control = '', FAILING_COMMITS: commits = '' } = process.env
const { existsSync, readFileSync, openSync, readSync } = fs
let reads = 0

function fail(): never {
  throw Object.assign(new Error('Input/output error'), { code: 5 })
}

/** Throws, when it is this read's turn. */
export function maybeFail(): void {
  if (!existsSync(control)) return
  if (++reads % Number(readFileSync(control, 'utf8')) === 0) fail()
}

/** Throws, where commits are to fail. */
export function maybeFailCommit(): void {
  if (existsSync(commits)) fail()
}

const archives = new Set<number>()
fs.openSync = (path, ...rest) => {
  const descriptor = openSync(path, ...rest)
  if (String(path).endsWith('.car')) archives.add(descriptor)
  else archives.delete(descriptor)
  return descriptor
}
fs.readSync = ((descriptor: number, ...rest: [never]) => {
  if (archives.has(descriptor)) maybeFail()
  return readSync(descriptor, ...rest)
}) as typeof fs.readSync
syncBuiltinESMExports()

openLmdbBy(new URL('failingLmdb.ts', import.meta.url).href)
