/** Whether a database is one for this chain, and this Petrel one for the database. Nothing is written here. */
import { IndexError } from '../../../src/index/errors.ts'
import type { IndexedChain } from '../../../src/index/indexStore.ts'
import type { Connection } from './connection.ts'
import { MIGRATIONS } from './migrations.ts'

/** The oldest version of the server: 16. */
const MIN_SERVER = 160_000

const NEWEST = MIGRATIONS.at(-1)?.version ?? 0

/** What a server is, and who we are there. */
interface Server {
  readonly version: number
  readonly still: boolean
  readonly name: string
  readonly made: boolean
  /** Somebody else's schema has a name of ours. */
  readonly taken: boolean
  readonly creates: boolean
}

/** What is in it. */
export interface Holding {
  readonly version: number
  readonly network: string
  readonly genesis: string
  readonly chain_id: string
}

/** Looks at the server. @throws IndexError `SERVER_TOO_OLD` */
export async function serverOf(on: Connection): Promise<Server> {
  const [server] = await on.query<Server>(
    `select current_setting('server_version_num')::int as version, current_setting('transaction_read_only') = 'on' as still,
     current_user as name, to_regclass('petrel.chain') is not null as made,
     to_regclass('petrel.chain') is null and (to_regnamespace('petrel') is not null or to_regnamespace('canonical') is not null) as taken,
     has_database_privilege(current_database(), 'create') as creates`,
  )
  const { version } = server as Server
  if (version < MIN_SERVER) {
    const text = `the index needs PostgreSQL 16 or newer, this is ${Math.floor(version / 10_000)}`
    throw new IndexError('SERVER_TOO_OLD', text)
  }
  return server as Server
}

/** @throws IndexError `SCHEMA_NEWER`; for a reader `SCHEMA_OLDER` */
export function assertVersion(version: number, who: 'writer' | 'reader'): void {
  if (version > NEWEST) {
    const text = `the tables of the index are of version ${version}, this Petrel knows ${NEWEST}: use the newer one`
    throw new IndexError('SCHEMA_NEWER', text)
  }
  if (who === 'writer' || version === NEWEST) return
  const text = `the tables of the index are of version ${version}, this Petrel reads ${NEWEST}: its writer brings them up to date`
  throw new IndexError('SCHEMA_OLDER', text)
}

/** @throws IndexError `OTHER_CHAIN` */
export function assertChain(found: Holding, chain: IndexedChain): void {
  if (found.network === chain.network && found.genesis === chain.genesis && found.chain_id === String(chain.chainId))
    return
  const text =
    `the index holds ${found.network} with genesis ${found.genesis}, ` +
    `this node follows ${chain.network} with genesis ${chain.genesis}: use another database`
  throw new IndexError('OTHER_CHAIN', text)
}

/** Whether a writer may begin: looks at the server, at who we are there, and at what is in it. */
export async function assertFits(on: Connection, chain: IndexedChain): Promise<void> {
  const { still, name, made, taken, creates } = await serverOf(on)
  if (still) throw new IndexError('READ_ONLY', 'the database of the index takes no writes: a standby, or set read-only')
  if (taken) {
    const text = 'the database has a schema "petrel" or "canonical" that is not of an index: use another database'
    throw new IndexError('NOT_OURS', text)
  }
  if (!made) {
    if (creates) return
    throw new IndexError('READ_ONLY', `user ${name} may not create the tables of the index`)
  }
  const [found] = await on.query<Holding & { readonly writes: boolean }>(
    `select (select max(version) from petrel.migrations) as version, network, genesis, chain_id::text as chain_id,
     has_table_privilege('petrel.tipsets', 'insert') and has_table_privilege('petrel.chain', 'update') as writes
     from petrel.chain`,
  )
  if (found === undefined) return
  assertVersion(found.version, 'writer')
  assertChain(found, chain)
  if (!found.writes) throw new IndexError('READ_ONLY', `user ${name} may not write the tables of the index`)
}
