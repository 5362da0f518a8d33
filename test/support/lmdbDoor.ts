/** The door to LMDB of a process that a test starts with `--import` of a module of its own: who opens it opens that module's. */
import { registerHooks } from 'node:module'
import type { open, RootDatabase } from 'lmdb'

/** A table of an environment. */
export type Table = ReturnType<RootDatabase['openDB']>

/** @param url - of the module that exports `open` in LMDB's stead, and imports LMDB itself */
export function openLmdbBy(url: string): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'lmdb' && context.parentURL !== url ? { url, shortCircuit: true } : next(specifier, context),
  })
}

/** LMDB's environment with every table changed that is opened in it. */
export function withTables(root: ReturnType<typeof open>, change: (table: Table) => void): RootDatabase {
  const openTable = root.openDB.bind(root)
  root.openDB = ((...args: Parameters<typeof openTable>) => {
    const table = openTable(...args)
    change(table)
    return table
  }) as typeof root.openDB
  return root
}
