/**
 * Tables without their indexes, while an empty database gets every balance and address of a chain: made once at the end they take a
 * tenth of what they take row by row (a million addresses: 2 s instead of 18).
 */
import type { IndexTable } from '../../../src/index/indexStore.ts'
import type { Connection } from './connection.ts'

/** Those that have a row for each actor of the first tipset. */
const TABLES: readonly IndexTable[] = ['balance_changes', 'addresses']
/** Others may be reading them, and to take an index away waits for that. */
const LOCK_MS = 2_000
/** The table's owner alone may; somebody reads it for longer. */
const NOT_NOW: readonly unknown[] = ['42501', '55P03']

/** How one index is taken away and made again. References stay: without them others would have to wait for us to read tipsets. */
interface Part {
  readonly drop: string
  readonly make: string
}

const PARTS = `
select case when c.oid is null then format('drop index petrel.%I', i.relname)
  else format('alter table %s drop constraint %I', x.indrelid::regclass, c.conname) end as drop,
  case when c.oid is null then pg_get_indexdef(x.indexrelid)
  else format('alter table %s add constraint %I %s', x.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) end as make
from pg_index x join pg_class i on i.oid = x.indexrelid left join pg_constraint c on c.conindid = x.indexrelid and c.contype = 'p'
where x.indrelid in (select ('petrel.' || value)::regclass from json_array_elements_text($1::text::json))`

/**
 * Takes the indexes away, in the transaction under way; where that cannot be, they stay.
 * @param signal - ends the connection while they are made again, which takes as long as the tables are large
 * @returns makes them again: before the transaction ends
 */
export async function bareTables(on: Connection, signal: AbortSignal): Promise<() => Promise<void>> {
  const parts = await on.query<Part>(PARTS, [JSON.stringify(TABLES)])
  await on.query('savepoint bare')
  try {
    await on.query(`set local lock_timeout = ${LOCK_MS}`)
    for (const { drop } of parts) await on.query(drop)
    await on.query('set local lock_timeout to default')
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
    if (!NOT_NOW.includes(code)) throw error
    await on.query('rollback to savepoint bare')
    return () => Promise.resolve()
  }
  return async () => {
    for (const { make } of parts) await on.patient(make, signal)
  }
}
