/** Brings the tables of an index up to date. */
import { IndexError } from '../../../src/index/errors.ts'
import { INDEX_TABLES, type IndexedChain } from '../../../src/index/indexStore.ts'
import type { Connection } from './connection.ts'
import { MIGRATIONS } from './migrations.ts'

/**
 * How long a step waits for those who read what it alters, milliseconds: whoever comes to read meanwhile waits behind it. Less than
 * the second after which the server looks for a deadlock: of two who wait for each other it is the step that gives up.
 */
const LOCK_MS = 500
/** Nobody who reads minds this lock, and an autovacuum under way ends for it: not within the half second, but after a whole one. */
const AGAINST_VACUUM = `lock table ${['tipsets', ...INDEX_TABLES].map((table) => `petrel.${table}`).join()} in share update exclusive mode`
/** PostgreSQL's `lock_not_available`. */
const LOCKED = '55P03'

/**
 * Applies the steps that are missing: by whoever is the only writer.
 * @param signal - ends the connection, whatever it is at
 * @throws IndexError `DATABASE_FAILED` where somebody reads for longer: what was done stays, and the next attempt goes on from there
 */
export async function migrate(
  on: Connection,
  { network, genesis, chainId }: IndexedChain,
  signal: AbortSignal,
): Promise<void> {
  const [found] = await on.query<{ made: boolean }>(`select to_regclass('petrel.migrations') is not null as made`)
  const [at] =
    found?.made === true
      ? await on.query<{ version: number }>('select max(version) as version from petrel.migrations')
      : []
  for (const { version, sql: step, indexes = [] } of MIGRATIONS) {
    if (at !== undefined && version <= at.version) continue
    for (const index of indexes) await on.patient(index, signal)
    await on.transaction(async () => {
      if (at !== undefined) await on.query(AGAINST_VACUUM)
      await on.query(`set local lock_timeout = ${LOCK_MS}`)
      if (step !== '') await on.query(step).catch(blocked)
      await on.query('insert into petrel.migrations (version) values ($1)', [version])
      await on.query(
        'insert into petrel.chain (network, genesis, chain_id) values ($1, $2, $3) on conflict do nothing',
        [network, genesis, String(chainId)],
      )
    })
  }
}

function blocked(error: unknown): never {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  if (code !== LOCKED) throw error
  const text = 'the tables of the index are to be changed, and somebody reads them: waiting for the end of that'
  throw new IndexError('DATABASE_FAILED', text, {}, { cause: error })
}
