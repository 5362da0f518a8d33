/** The pages of LMDB's file, as far as it takes to walk from its first ones to all in use. Layout: lmdb 3.5.6, mdb.c (MDB_page_header, MDB_meta, MDB_db, MDB_node). */
import { readSync } from 'node:fs'

const MAGIC = 0xbeefc0de
/** The one layout that lmdb writes here; it refuses others. */
const VERSION = 2
/** Bytes of a page's header: number 8, transaction 8, pad 2, flags 2, lower 2, upper 2. */
export const HEADER = 24
/** Where in it are the flags, and where the free space begins. */
export const FLAGS_AT = 18
export const LOWER_AT = 20
/** Bytes of MDB_db; its root is the last of them. */
const DB = 48
const DEPTH_IN_DB = 6
const ENTRIES_IN_DB = 32
const ROOT_IN_DB = 40
/** Where a page's header has the transaction that wrote it. */
export const TXN_AT = 8
/** Where MDB_meta has what, from the start of the page. */
const AT = { magic: HEADER, version: HEADER + 4, databases: HEADER + 24, lastPage: HEADER + 120, txnId: HEADER + 128 }
/** Bytes of a meta page that are read. */
export const META_END = HEADER + 136
/** Flags of a page: a vertex or a leaf of a table's tree. */
export const BRANCH = 1
export const LEAF = 2
const META = 8
const BIG_DATA = 1
const SUB_DATABASE = 2
const NODE_HEADER = 8
/** The root of a table without pages. */
export const NO_ROOT = 0xffffffffffffffffn

/** What one of the two meta pages says. */
export interface Meta {
  readonly pageBytes: number
  readonly lastPage: number
  readonly txnId: bigint
  readonly roots: readonly bigint[]
  /** Named tables that the second root leads to, and how deep. */
  readonly tables: bigint
  readonly depth: number
}

/** Reads part of a file; shorter where the file ends. */
export function readAt(file: number, position: number, length: number): DataView {
  const bytes = new Uint8Array(length)
  const read = readSync(file, bytes, 0, length, position)
  return new DataView(bytes.buffer, 0, read)
}

/** @returns undefined when there is no meta page of this layout */
function metaAt(file: number, position: number): Meta | undefined {
  const page = readAt(file, position, META_END)
  if (page.byteLength < META_END) return undefined
  if ((page.getUint16(FLAGS_AT, true) & META) === 0) return undefined
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

/** The meta pages, the newest first. */
export function metasOf(file: number): Meta[] {
  const first = metaAt(file, 0)
  const second = first === undefined ? undefined : metaAt(file, first.pageBytes)
  return [first, second].filter((meta) => meta !== undefined).sort((a, b) => (a.txnId > b.txnId ? -1 : 1))
}

/** What a page's nodes name: pages, and runs of pages that hold one value. */
export function* namedBy(page: DataView, pageBytes: number): Iterable<{ readonly page: bigint; readonly run: number }> {
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
