/** Where the shared data (vectors, recorded chains) is: `../shared` beside the repository. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'

/** Root of the repository, absolute. */
export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url))

const folder = join(ROOT, '..', 'shared')

/** Absolute path of the shared folder, or undefined on a machine without it. */
export const SHARED: string | undefined = existsSync(join(folder, 'data')) ? folder : undefined

/**
 * Whether a test that needs the folder fails without it instead of being skipped: `PETREL_REQUIRE_SHARED` is 1, or `CI` is
 * true and it is not 0. Of a folder that is there but lacks one part, tests are skipped all the same.
 */
const isRequired: boolean =
  process.env.PETREL_REQUIRE_SHARED === undefined
    ? process.env.CI === 'true'
    : process.env.PETREL_REQUIRE_SHARED === '1'

/** True where no test that reads shared data can run, and none has to. */
export const sharedMissing: boolean = SHARED === undefined && !isRequired

/** Why a test that needs `path` below the shared folder is skipped; undefined when it can run, or has to. */
export function missingShared(path: string): string | undefined {
  if (SHARED === undefined) return isRequired ? undefined : '../shared is not on this machine'
  return existsSync(join(SHARED, path)) ? undefined : `../shared/${path} is not on this machine`
}

/** Absolute path of a shared file or folder. */
export function sharedPath(path: string): string {
  if (SHARED === undefined) throw new Error('../shared is not on this machine')
  return join(SHARED, path)
}

/** Bytes of a shared file. */
export function readShared(path: string): Uint8Array {
  return new Uint8Array(readFileSync(sharedPath(path)))
}

/** Text of a shared file. */
export function readSharedText(path: string): string {
  return readFileSync(sharedPath(path), 'utf8')
}

/** JSON of a shared file, as JavaScript numbers (use src/codec/jsonText.ts where integers above 2^53 matter). */
export function readSharedJson<T = unknown>(path: string): T {
  return JSON.parse(readSharedText(path)) as T
}

/** Names of the files and folders in a shared folder, sorted. */
export function listShared(path: string): string[] {
  return readdirSync(sharedPath(path)).sort()
}

/** Bytes of a file of this repository, by its path from the root. */
export function readOwn(path: string): Uint8Array {
  return new Uint8Array(readFileSync(join(ROOT, path)))
}

/** Bytes of a shared file whose name ends in `.zst` or `.gz`, decompressed. */
export function readSharedUnpacked(path: string): Uint8Array {
  const packed = readShared(path)
  return new Uint8Array(path.endsWith('.zst') ? zstdDecompressSync(packed) : gunzipSync(packed))
}
