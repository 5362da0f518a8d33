/**
 * A mark beside a tab's database that there is one. A browser may throw databases away (when room is short, when one looks damaged, when
 * its user clears what sites keep), keys with them; the mark lies in another storage and tells that apart from a first start.
 */
const PREFIX = 'petrel kept: '

/** @param name - of the node. @returns false where the page has no such storage, too */
export function isMarked(name: string): boolean {
  return typeof storage()?.getItem(PREFIX + name) === 'string'
}

/** Where there is no room for it, or no storage, nothing is told later. */
export function mark(name: string): void {
  try {
    storage()?.setItem(PREFIX + name, String(Date.now()))
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
  }
}

/** A page may be forbidden to have any. */
function storage(): Storage | undefined {
  try {
    return globalThis.localStorage
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}
