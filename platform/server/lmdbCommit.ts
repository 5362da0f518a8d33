/**
 * Whether all pages of a store's last commit are on the disk. A disk that says that it holds what was written, and after a loss of power
 * does not, leaves pages as they were before: sound ones of older commits, with sound values of the same keys, which no checksum
 * tells from the right ones.
 *
 * A commit writes no page in place: each page that the newest tree leads to bears the number of the newest commit, or was part of the
 * tree before it, which is still whole (LMDB takes pages again that were freed two commits before, no later ones). A page that was not
 * written is neither. Only what the two trees do not share is read. Layout: lmdb 3.5.6, mdb.c (mdb_page_alloc, mdb_page_touch).
 */
import { HEADER, type Meta, NO_ROOT, namedBy, readAt, TXN_AT } from './lmdbPages.ts'

/** A page that something leads to: the first one of a run that holds a value, or one of a tree. */
interface Named {
  readonly page: bigint
  readonly run: number
}

/** Walks a tree. @param enters - whether what a page leads to is to be visited, too */
function walk(file: number, meta: Meta, enters: (page: bigint, txnId: bigint) => boolean): void {
  const stack: Named[] = meta.roots.map((page) => ({ page, run: 0 }))
  for (let named = stack.pop(); named !== undefined; named = stack.pop()) {
    const { page: number, run } = named
    if (number === NO_ROOT) continue
    const page = readAt(file, Number(number) * meta.pageBytes, run === 0 ? meta.pageBytes : HEADER)
    if (page.getBigUint64(0, true) !== number) throw new RangeError(`page ${number} is another`)
    if (enters(number, page.getBigUint64(TXN_AT, true)) && run === 0) stack.push(...namedBy(page, meta.pageBytes))
  }
}

/**
 * @param before - the other meta page: of the commit before
 * @throws RangeError a page is not what leads to it
 */
export function isCommitWhole(file: number, newest: Meta, before: Meta): boolean {
  if (before.txnId + 1n !== newest.txnId) return true
  const kept = new Set<bigint>()
  walk(file, newest, (page, txnId) => {
    if (txnId === newest.txnId) return true
    kept.add(page)
    return false
  })
  walk(file, before, (page) => !kept.delete(page))
  return kept.size === 0
}
