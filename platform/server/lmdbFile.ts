/**
 * Whether a store's file begins with what LMDB wrote, and is as long as what it holds. LMDB maps the file, so a page behind its
 * end is SIGBUS: the process dies without a word.
 *
 * The newest meta page says which page was the last to be used. The file may end before it where the last pages are free; then all
 * pages in use are looked for, from both roots.
 */
import { closeSync, fstatSync, openSync } from 'node:fs'
import { unlessThrown } from '../../src/base/errors.ts'
import { PlatformError, systemCode } from './errors.ts'
import { isCommitWhole } from './lmdbCommit.ts'
import {
  BRANCH,
  FLAGS_AT,
  HEADER,
  LEAF,
  LOWER_AT,
  META_END,
  type Meta,
  metasOf,
  NO_ROOT,
  namedBy,
  readAt,
  TXN_AT,
} from './lmdbPages.ts'

/** File of an environment, in its folder. */
export const DATA_FILE = 'data.mdb'

const LOOKS = 20
/**
 * Whether a meta page is as it was written. It has no checksum, but each commit writes the page of the table of tables, which bears
 * its own number and that of the transaction: a damaged number in the one is another in the other. Without this LMDB takes the older
 * of its two states, or an empty store, for the newest.
 */
function isOfItsCommit(file: number, { pageBytes, txnId, roots, tables, depth }: Meta): boolean {
  const root = roots[1] as bigint
  if (root === NO_ROOT) return tables === 0n
  const page = readAt(file, Number(root) * pageBytes, HEADER)
  // Behind the end of the file: cut off, which is told apart below.
  if (page.byteLength < HEADER) return true
  if (page.getBigUint64(0, true) !== root || page.getBigUint64(TXN_AT, true) !== txnId) return false
  const flags = page.getUint16(FLAGS_AT, true)
  if (depth > 1) return flags === BRANCH
  return flags === LEAF && BigInt(page.getUint16(LOWER_AT, true) >> 1) === tables
}

/** A running node writes meanwhile, so what is wrong is looked at again. */
function isEver(sound: () => boolean): boolean {
  for (let look = 0; look < LOOKS; look++) if (sound()) return true
  return false
}

/** Whether every page in use lies in the first `pages` of the file. */
function holdsAll(file: number, { pageBytes, roots }: Meta, pages: number): boolean {
  const stack = [...roots]
  for (let number = stack.pop(); number !== undefined; number = stack.pop()) {
    if (number === NO_ROOT) continue
    if (number >= BigInt(pages)) return false
    const page = readAt(file, Number(number) * pageBytes, pageBytes)
    for (const named of namedBy(page, pageBytes)) {
      if (named.run === 0) stack.push(named.page)
      else if (named.page + BigInt(named.run) > BigInt(pages)) return false
    }
  }
  return true
}

/** @throws PlatformError `STORE_DAMAGED` */
function assertCommitWhole(file: number, path: string): void {
  const isWhole = (): boolean => {
    const [newest, before] = metasOf(file)
    return newest === undefined || before === undefined || isCommitWhole(file, newest, before)
  }
  // A page whose nodes point out of it, or that is another one.
  if (isEver(() => unlessThrown(isWhole, RangeError) ?? false)) return
  const text = `Cannot open ${path}: the disk lacks pages of what was written last; restore it from a backup`
  throw new PlatformError('STORE_DAMAGED', text, { path })
}

/**
 * @param path - `data.mdb`; it need not be there
 * @param checksCommit - whether it is looked at all pages of the last commit: not while somebody commits much
 * @throws PlatformError `STORE_DAMAGED` when pages that are in use lie behind its end, or a meta page is not as it was written
 */
export function assertSound(path: string, checksCommit = true): void {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return
    throw error
  }
  try {
    const [meta] = metasOf(file)
    // After that: the file of a running node grows in between, and never shrinks.
    const { size } = fstatSync(file)
    // LMDB writes both meta pages at once; none at all is a store that was never written.
    if (size === 0) return
    // What LMDB itself refuses is not to come so far: lmdb 3.5.6 then uses memory that it has freed (env.cpp, openEnv), and the process dies.
    const isNone = meta === undefined && size >= META_END
    if (isNone || !isEver(() => metasOf(file).every((page) => isOfItsCommit(file, page)))) {
      const text = `Cannot open ${path}: its first pages are damaged; restore it from a backup`
      throw new PlatformError('STORE_DAMAGED', text, { path })
    }
    const expected = meta === undefined ? META_END : (meta.lastPage + 1) * meta.pageBytes
    if (size >= expected) return checksCommit ? assertCommitWhole(file, path) : undefined
    const pages = meta === undefined ? 0 : Math.floor(size / meta.pageBytes)
    let sound = false
    try {
      sound = meta !== undefined && pages >= 2 && holdsAll(file, meta, pages)
    } catch (error) {
      // A page whose nodes point out of it.
      if (!(error instanceof RangeError)) throw error
    }
    if (sound) return checksCommit ? assertCommitWhole(file, path) : undefined
    const text = `Cannot open ${path}: it was cut off, it has ${size} bytes of ${expected}; restore it from a backup`
    throw new PlatformError('STORE_DAMAGED', text, { path, size, expected })
  } finally {
    closeSync(file)
  }
}
