/** The method table: which row answers a full name on a path. */
import type { ApiVersion, MethodRow } from './method.ts'

/** Namespaces in which every method is served. */
export const NAMESPACES: readonly string[] = ['Filecoin', 'Node']

/** All paths. */
const API_VERSIONS: readonly ApiVersion[] = ['v0', 'v1', 'v2']

/** A row as the engine holds it. */
export interface TableEntry {
  readonly row: MethodRow
  /** JSON texts of results, by the result object; undefined when the row keeps none. */
  readonly texts: WeakMap<object, string> | undefined
}

/** All rows, by path and full name. */
export interface MethodTable {
  readonly rows: readonly MethodRow[]
  find(version: ApiVersion, fullName: string): TableEntry | undefined
  /** Rows of a path in order of name, each once. */
  list(version: ApiVersion): readonly MethodRow[]
}

/**
 * Rows that a path serves. `/rpc/v0` serves the rows of v1 too, where it has none of its own with that name.
 * @see lotus api/v0api/v1_wrapper.go WrapperV1Full
 */
function rowsOf(rows: readonly MethodRow[], version: ApiVersion): MethodRow[] {
  const own = rows.filter((row) => row.versions.includes(version))
  if (version !== 'v0') return own
  const names = new Set(own.map((row) => row.name))
  return [...own, ...rows.filter((row) => row.versions.includes('v1') && !names.has(row.name))]
}

/** Builds the table. Of two rows with the same name on one path the later one wins. */
export function createMethodTable(rows: readonly MethodRow[]): MethodTable {
  const entries = new Map<MethodRow, TableEntry>()
  for (const row of rows) {
    const keeps = row.kind === 'channel' || (row.kind === 'call' && row.cacheResult)
    entries.set(row, { row, texts: keeps ? new WeakMap() : undefined })
  }
  const byName = new Map<ApiVersion, Map<string, TableEntry>>()
  const lists = new Map<ApiVersion, readonly MethodRow[]>()
  for (const version of API_VERSIONS) {
    const names = new Map<string, TableEntry>()
    const served = new Map<string, MethodRow>()
    for (const row of rowsOf(rows, version)) {
      const entry = entries.get(row) as TableEntry
      served.set(row.name, row)
      for (const namespace of NAMESPACES) names.set(`${namespace}.${row.name}`, entry)
      for (const alias of row.aliases) names.set(alias, entry)
    }
    byName.set(version, names)
    lists.set(
      version,
      [...served.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    )
  }
  return {
    rows,
    find: (version, fullName) => byName.get(version)?.get(fullName),
    list: (version) => lists.get(version) ?? [],
  }
}
