/** Many values of one object store, in transactions of a size that a browser carries out or leaves out. */
import type { Database, StoreName } from './database.ts'
import { CHANGE_BYTES, TRANSACTION_BYTES } from './storeLimits.ts'

/** The first of what is to be written, as much as goes into one transaction, and one at least. */
export function firstOf<T extends Uint8Array | undefined>(all: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  const part = new Map<string, T>()
  let bytes = 0
  for (const [key, data] of all) {
    bytes += (data?.length ?? 0) + CHANGE_BYTES
    if (bytes > TRANSACTION_BYTES && part.size > 0) break
    part.set(key, data)
  }
  return part
}

/** Puts values by name, and deletes those that are undefined; each part is on stable storage before the next one. */
export async function writeParts(
  database: Database,
  store: StoreName,
  all: ReadonlyMap<string, Uint8Array | undefined>,
): Promise<void> {
  const left = new Map(all)
  while (left.size > 0) {
    const part = firstOf(left)
    await database.write([store], 'strict', (of) => {
      for (const [name, value] of part) {
        if (value === undefined) of(store).delete(name)
        else of(store).put(value, name)
      }
    })
    for (const name of part.keys()) left.delete(name)
  }
}
