/**
 * The format of a store on disk: a number in a table that holds only the fences of commits besides (lmdbKeyValues.ts), and the steps
 * from each format to the next. A step and the number that follows from it are one transaction: LMDB writes to other pages than those of
 * the last commit, so the old store stands, whole, until the new one does, whenever the process or the machine ends.
 */
import { latin1, utf8 } from '../../src/base/bytes.ts'
import { PlatformError } from './errors.ts'
import { checked, copyOf, type Table, uncheckedOf, type WriteSize } from './lmdbKeyValues.ts'

/** Tables that steps work on. `meta`: values without checksums, of format 0. */
export interface StoreTables {
  readonly values: Table
  readonly meta: Table
  readonly format: Table
}

/** At index n: from format n to n + 1, inside a transaction. */
const STEPS: readonly ((tables: StoreTables) => void)[] = [
  ({ meta, values }) => {
    for (const entry of meta.getKeys({})) {
      const key = copyOf(entry as Uint8Array) as Uint8Array
      const value = copyOf(meta.getBinaryFast(key))
      if (value !== undefined) values.putSync(key, checked(key, value))
    }
    meta.clearSync()
  },
]

/** Format that this program writes. */
const STORE_FORMAT: number = STEPS.length

const KEY = utf8('version')
const ONE_WRITE: WriteSize = { writes: 1, bytes: 0 }

/** Format of a store; of one that was made before formats had numbers: by where its values lie. */
function formatOf({ format, meta }: StoreTables, damaged: (what: string) => never): number {
  const stored = copyOf(format.getBinaryFast(KEY))
  if (stored === undefined) return meta.getKeysCount({ limit: 1 }) > 0 ? 0 : 1
  const value = uncheckedOf(KEY, stored)
  return value === undefined ? damaged('the number of its format') : Number(latin1(value))
}

/**
 * Brings a store to the format of this program, one step after the other.
 * @throws PlatformError `STORE_FAILED`: a newer program made it, and it is left as it is; what `damaged` and `transaction` throw
 */
export function upgradeStore(
  tables: StoreTables,
  path: string,
  damaged: (what: string) => never,
  transaction: (size: WriteSize, write: () => void) => void,
): void {
  const found = formatOf(tables, damaged)
  if (found > STORE_FORMAT) {
    const text = `Cannot open the store ${path}: its format is ${found}, a newer Petrel made it; this one knows ${STORE_FORMAT}`
    throw new PlatformError('STORE_FAILED', text, { path, found, known: STORE_FORMAT })
  }
  const note = (reached: number): unknown => tables.format.putSync(KEY, checked(KEY, utf8(String(reached))))
  if (found === STORE_FORMAT && !tables.format.doesExist(KEY)) transaction(ONE_WRITE, () => void note(found))
  for (let format = found; format < STORE_FORMAT; format++) {
    const size = { writes: tables.meta.getKeysCount({}) + 1, bytes: 0 }
    transaction(size, () => {
      STEPS[format]?.(tables)
      note(format + 1)
    })
  }
}
