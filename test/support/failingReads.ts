/**
 * Faults of a disk, for a process that is started with `--import` of this file: while the file that `FAILING_READS` names is there, one
 * of so many reads as it says (`1`: all) fails with EIO, of LMDB's tables and of archives (`.car`). LMDB maps its file, so what a disk
 * does there is seen at LMDB's door; archives are read by the kernel.
 */
import fs from 'node:fs'
import { registerHooks, syncBuiltinESMExports } from 'node:module'

const control = process.env.FAILING_READS ?? ''
const { existsSync, readFileSync, openSync, readSync } = fs
let reads = 0

/** Throws, when it is this read's turn. */
export function maybeFail(): void {
  if (!existsSync(control)) return
  if (++reads % Number(readFileSync(control, 'utf8')) !== 0) return
  throw Object.assign(new Error('Input/output error'), { code: 5 })
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

const wrapper = new URL('failingLmdb.ts', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'lmdb' && context.parentURL !== wrapper
      ? { url: wrapper, shortCircuit: true }
      : next(specifier, context),
})
