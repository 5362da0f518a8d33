import { createHash, timingSafeEqual } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unlessThrown } from '../../src/base/errors.ts'
import type { InstrumentedCache } from '../../src/fvm/wasm/moduleCache.ts'

const SUFFIX = '.wasm'
/** SHA-256 of the module, in front of it. */
const HASH_BYTES = 32
/** Files kept: every kind of actor of some 30 network versions. */
const MAX_FILES = 512
/** What a key may consist of: it becomes a file's name. */
const SAFE_KEY = /^[\w.-]{1,200}$/

function hashOf(module: Uint8Array): Uint8Array {
  return createHash('sha256').update(module).digest()
}

/**
 * Instrumented modules as files, `<folder>/<key>.wasm`: a cold start compiles only. Node and Deno. A file that is damaged
 * or cut short counts as absent; a folder that cannot be written to is no error. The hash finds accidents: whoever may
 * write to the folder may put any code there.
 */
export class InstrumentedFiles implements InstrumentedCache {
  readonly #folder: string

  /** @param folder - created when something is first put */
  constructor(folder: string) {
    this.#folder = folder
  }

  get(key: string): Uint8Array | undefined {
    if (!SAFE_KEY.test(key)) return undefined
    const file = unlessThrown(() => readFileSync(join(this.#folder, key + SUFFIX)), Error)
    if (file === undefined) return undefined
    const module = file.subarray(HASH_BYTES)
    if (file.length <= HASH_BYTES || !timingSafeEqual(hashOf(module), file.subarray(0, HASH_BYTES))) return undefined
    return module
  }

  put(key: string, instrumented: Uint8Array): void {
    if (!SAFE_KEY.test(key)) return
    // A full disk or a folder of another user: the module is instrumented again next time.
    unlessThrown(() => {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      this.#makeRoom()
      this.#write(join(this.#folder, key + SUFFIX), instrumented)
    }, Error)
  }

  #write(path: string, module: Uint8Array): void {
    const temporary = `${path}.tmp-${process.pid}-${Math.random().toString(36).slice(2)}`
    try {
      writeFileSync(temporary, Buffer.concat([hashOf(module), module]), { mode: 0o600 })
      // In one step: another thread may be reading or writing the same module.
      renameSync(temporary, path)
    } finally {
      rmSync(temporary, { force: true })
    }
  }

  /** Deletes the files that were written longest ago. */
  #makeRoom(): void {
    const names = readdirSync(this.#folder)
    if (names.length < MAX_FILES) return
    const byAge = names
      .map((name) => ({ name, time: statSync(join(this.#folder, name)).mtimeMs }))
      .sort((a, b) => a.time - b.time)
    for (const { name } of byAge.slice(0, names.length - MAX_FILES + 1))
      rmSync(join(this.#folder, name), { force: true })
  }
}
