/**
 * Whether a store's file begins with what LMDB wrote, and is as long as what it holds. LMDB maps the file, so a page behind its
 * end is SIGBUS: the process dies without a word.
 *
 * The newest meta page says which page was the last to be used. The file may end before it where the last pages are free; then all
 * pages in use are looked for, from both roots. Layout: lmdb 3.5.6, mdb.c (MDB_page_header, MDB_meta, MDB_db, MDB_node).
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { PlatformError, systemCode } from './errors.ts'

/** File of an environment, in its folder. */
export const DATA_FILE = 'data.mdb'

const MAGIC = 0xbeefc0de
/** The one layout that lmdb writes here; others are its own to refuse. */
const VERSION = 2
/** Bytes of a page's header: number 8, transaction 8, pad 2, flags 2, lower 2, upper 2. */
const HEADER = 24
const FLAGS_AT = 18
const LOWER_AT = 20
/** Bytes of MDB_db; its root is the last of them. */
const DB = 48
const DEPTH_IN_DB = 6
const ENTRIES_IN_DB = 32
const ROOT_IN_DB = 40
const TXN_AT = 8
const LOOKS = 20
/** Where MDB_meta has what, from the start of the page. */
const AT = { magic: HEADER, version: HEADER + 4, databases: HEADER + 24, lastPage: HEADER + 120, txnId: HEADER + 128 }
const META_END = HEADER + 136
const BRANCH = 1
const LEAF = 2
const BIG_DATA = 1
const SUB_DATABASE = 2
const NODE_HEADER = 8
const NO_ROOT = 0xffffffffffffffffn

interface Meta {
  readonly pageBytes: number
  readonly lastPage: number
  readonly txnId: bigint
  readonly roots: readonly bigint[]
  /** Named tables that the second root leads to, and how deep. */
  readonly tables: bigint
  readonly depth: number
}

function readAt(file: number, position: number, length: number): DataView {
  const bytes = new Uint8Array(length)
  const read = readSync(file, bytes, 0, length, position)
  return new DataView(bytes.buffer, 0, read)
}

/** @returns undefined when there is no meta page of this layout */
function metaAt(file: number, position: number): Meta | undefined {
  const page = readAt(file, position, META_END)
  if (page.byteLength < META_END) return undefined
  if (page.getUint32(AT.magic, true) !== MAGIC || page.getUint32(AT.version, true) !== VERSION) return undefined
  const root = (database: number): bigint => page.getBigUint64(AT.databases + database * DB + ROOT_IN_DB, true)
  return {
    pageBytes: page.getUint32(AT.databases, true),
    lastPage: Number(page.getBigUint64(AT.lastPage, true)),
    txnId: page.getBigUint64(AT.txnId, true),
    roots: [root(0), root(1)],
    tables: page.getBigUint64(AT.databases + DB + ENTRIES_IN_DB, true),
    depth: page.getUint16(AT.databases + DB + DEPTH_IN_DB, true),
  }
}

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

/** Both meta pages; a running node replaces them meanwhile, so what is wrong is looked at again. */
function areOfTheirCommits(file: number): boolean {
  for (let look = 0; look < LOOKS; look++) {
    const first = metaAt(file, 0)
    const second = first === undefined ? undefined : metaAt(file, first.pageBytes)
    if ([first, second].every((meta) => meta === undefined || isOfItsCommit(file, meta))) return true
  }
  return false
}

function newestMeta(file: number): Meta | undefined {
  const first = metaAt(file, 0)
  if (first === undefined) return undefined
  const second = metaAt(file, first.pageBytes)
  return second !== undefined && second.txnId > first.txnId ? second : first
}

/** What a page's nodes name: pages, and runs of pages that hold one value. */
function* namedBy(page: DataView, pageBytes: number): Iterable<{ readonly page: bigint; readonly run: number }> {
  const flags = page.getUint16(FLAGS_AT, true)
  if ((flags & (BRANCH | LEAF)) === 0) return
  const nodes = page.getUint16(LOWER_AT, true) >> 1
  for (let i = 0; i < nodes; i++) {
    const node = HEADER + page.getUint16(HEADER + 2 * i, true)
    const low = page.getUint32(node, true)
    const nodeFlags = page.getUint16(node + 4, true)
    if ((flags & BRANCH) !== 0) yield { page: (BigInt(nodeFlags) << 32n) | BigInt(low), run: 0 }
    const data = node + NODE_HEADER + page.getUint16(node + 6, true)
    if ((flags & LEAF) !== 0 && (nodeFlags & BIG_DATA) !== 0) {
      yield { page: page.getBigUint64(data, true), run: Math.ceil((HEADER + low) / pageBytes) }
    } else if ((flags & LEAF) !== 0 && (nodeFlags & SUB_DATABASE) !== 0) {
      yield { page: page.getBigUint64(data + ROOT_IN_DB, true), run: 0 }
    }
  }
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

/**
 * @param path - `data.mdb`; it need not be there
 * @throws PlatformError `STORE_DAMAGED` when pages that are in use lie behind its end, or a meta page is not as it was written
 */
export function assertSound(path: string): void {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return
    throw error
  }
  try {
    const { size } = fstatSync(file)
    // LMDB writes both meta pages at once; none at all is a store that was never written.
    if (size === 0) return
    const meta = newestMeta(file)
    if (meta === undefined && size >= META_END) return
    if (!areOfTheirCommits(file)) {
      const text = `Cannot open ${path}: its first pages are damaged; restore it from a backup`
      throw new PlatformError('STORE_DAMAGED', text, { path })
    }
    const expected = meta === undefined ? META_END : (meta.lastPage + 1) * meta.pageBytes
    if (size >= expected) return
    const pages = meta === undefined ? 0 : Math.floor(size / meta.pageBytes)
    let sound = false
    try {
      sound = meta !== undefined && pages >= 2 && holdsAll(file, meta, pages)
    } catch (error) {
      // A page whose nodes point out of it.
      if (!(error instanceof RangeError)) throw error
    }
    if (sound) return
    const text = `Cannot open ${path}: it was cut off, it has ${size} bytes of ${expected}; restore it from a backup`
    throw new PlatformError('STORE_DAMAGED', text, { path, size, expected })
  } finally {
    closeSync(file)
  }
}
