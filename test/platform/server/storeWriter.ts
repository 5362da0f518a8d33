/**
 * Writes to a store on the orders of a test, in a process of its own, whose files may not grow beyond what the shell that started it
 * allows. Prints a line for each write: its number and what came of it.
 *
 * Asked to, it takes room for many writes first, and in their midst it forbids itself all of them: then the kernel refuses in the midst of
 * LMDB's commit. It allows them again before the last three.
 */
import { execFileSync } from 'node:child_process'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import { PetrelError } from '../../../src/base/errors.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { initCrypto } from '../../../src/crypto/init.ts'

const [path = '', count = '0', how = '', forbids = ''] = process.argv.slice(2)
const VALUE_BYTES = 50_000
/** LMDB is thought to need twice that. */
const LARGE_BYTES = 4_000_000

function limitFiles(bytes: string): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`])
}

await initCrypto()
const environment = new LmdbEnvironment({ path, freeBytes: () => Number.MAX_SAFE_INTEGER })
if (forbids !== '') environment.meta.put(utf8('large'), new Uint8Array(LARGE_BYTES))
for (let i = 0; i < Number(count); i++) {
  if (forbids !== '' && i === Number(forbids)) limitFiles('1024')
  if (i === Number(count) - 3) limitFiles('unlimited')
  const value = new Uint8Array(VALUE_BYTES).fill(i)
  const write = { op: 'put', key: utf8(`key ${i}`), value } as const
  let said = 'kept'
  try {
    environment.blocks.put(blockCid(value), value)
    if (how === 'aside') await environment.meta.commit([write])
    else environment.meta.batch([write])
  } catch (error) {
    said = error instanceof PetrelError ? String(error.code) : `BUG ${String(error)}`
  }
  console.log(`${i} ${said}`)
}
console.log(`why ${environment.meta.whyUnwritable?.() ?? 'writable'}`)
