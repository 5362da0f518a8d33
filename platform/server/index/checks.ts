/** Whether a database is one for this chain, and this Petrel one for the database. Nothing is written here. */
import { IndexError } from '../../../src/index/errors.ts'
import { INDEX_TABLES, type IndexedChain } from '../../../src/index/indexStore.ts'
import type { Connection } from './connection.ts'
import { MIGRATIONS } from './migrations.ts'

/** The oldest version of the server: 16. */
const MIN_SERVER = 160_000

const NEWEST = MIGRATIONS.at(-1)?.version ?? 0

/** A dump that was restored in part, say. */
const TORN =
  'the tables of the index do not say of which version and chain they are: restore them whole, or use another database'

/** What a writer needs of each table: all of it, but of the one row that says whose chain it is. */
const ALL = ['select', 'insert', 'update', 'delete'] as const
const WRITTEN: readonly (readonly [table: string, right: string])[] = [
  ...['select', 'update'].map((right) => ['chain', right] as const),
  ...['tipsets', ...INDEX_TABLES].flatMap((table) => ALL.map((right) => [table, right] as const)),
]

/** `lacks`: the first of the rights in `$1` that the user has not; null: it has all. */
const RIGHTS = `select (select (x.value->>1) || ' petrel.' || (x.value->>0) from json_array_elements($1::text::json) with ordinality x
  where not has_table_privilege('petrel.' || (x.value->>0), x.value->>1) order by x.ordinality limit 1) as lacks`

/** `other`: one of what a step of the schema may change, and the user does not own or may not add to; null: there is none. */
const OTHER = `select (select what from (
    select n.nspname || '.' || c.relname as what from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('petrel', 'canonical') and c.relkind in ('r', 'p', 'v') and not pg_has_role(c.relowner, 'usage')
    union all select 'schema ' || nspname from pg_namespace
    where nspname in ('petrel', 'canonical') and not has_schema_privilege(oid, 'create')
  ) x order by what limit 1) as other`

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
  /** null: no step of the schema says that it was applied. */
  readonly version: number | null
  readonly network: string
  readonly genesis: string
  readonly chain_id: string
}

/** Looks at the server. @throws IndexError `SERVER_TOO_OLD` */
export async function serverOf(on: Connection): Promise<Server> {
  const [server] = await on.query<Server>(
    `select current_setting('server_version_num')::int as version, current_setting('transaction_read_only') = 'on' as still,
     current_user as name, made, not made and (to_regnamespace('petrel') is not null or to_regnamespace('canonical') is not null) as taken,
     has_database_privilege(current_database(), 'create') as creates
     from (select to_regclass('petrel.chain') is not null and to_regclass('petrel.migrations') is not null as made) x`,
  )
  const { version } = server as Server
  if (version < MIN_SERVER) {
    const text = `the index needs PostgreSQL 16 or newer, this is ${Math.floor(version / 10_000)}`
    throw new IndexError('SERVER_TOO_OLD', text)
  }
  return server as Server
}

/** @throws IndexError `NOT_OURS` for tables that do not say of which version they are; `SCHEMA_NEWER`; for a reader `SCHEMA_OLDER` */
export function assertVersion(version: number | null, who: 'writer' | 'reader'): asserts version is number {
  if (version === null) throw new IndexError('NOT_OURS', TORN)
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
  const [found] = await on.query<Holding>(
    `select (select max(version) from petrel.migrations) as version, network, genesis, chain_id::text as chain_id from petrel.chain`,
  )
  if (found === undefined) throw new IndexError('NOT_OURS', TORN)
  assertVersion(found.version, 'writer')
  assertChain(found, chain)
  const [{ lacks }] = (await on.query(RIGHTS, [JSON.stringify(WRITTEN)])) as [{ lacks: string | null }]
  if (lacks !== null) {
    throw new IndexError('READ_ONLY', `user ${name} may not write the tables of the index: no right to ${lacks}`)
  }
  if (found.version === NEWEST) return
  const [{ other }] = (await on.query(OTHER)) as [{ other: string | null }]
  if (other === null) return
  const text =
    `the tables of the index are of version ${found.version}, this Petrel brings them to ${NEWEST}: ` +
    `user ${name} must own all that is in the schemas petrel and canonical for that, and does not own ${other}`
  throw new IndexError('READ_ONLY', text)
}
