/** What a writer asks of a database before it writes anything: the server, the tables, and rights to all of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assertFits, assertVersion, serverOf } from '../../platform/server/index/checks.ts'
import type { Connection } from '../../platform/server/index/connection.ts'
import { MIGRATIONS } from '../../platform/server/index/migrations.ts'
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import { PostgresReader } from '../../platform/server/index/postgresReader.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { connect, newDatabase, runSql } from './indexed.ts'
import { timers } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

const CHAIN = { network: 'elsewhere', genesis: 'bafy-elsewhere', chainId: 1 }

test('a server of before PostgreSQL 16 is refused', async () => {
  const asked: string[] = []
  const server = (version: number): Connection => {
    const query = async (text: string) => {
      asked.push(text)
      return [{ version, still: false, name: 'petrel', made: false, taken: false, creates: true }]
    }
    return { query } as unknown as Connection
  }
  const text = 'the index needs PostgreSQL 16 or newer, this is 15'
  for (const version of [150_000, 159_999])
    await expect(assertFits(server(version), CHAIN)).rejects.toMatchObject({
      name: 'IndexError',
      code: 'SERVER_TOO_OLD',
      message: text,
    })
  // What the server is, and no more.
  expect(asked).toHaveLength(2)
  await expect(serverOf(server(160_000))).resolves.toMatchObject({ version: 160_000 })
})

test("tables of no version are nobody's", () => {
  for (const who of ['writer', 'reader'] as const)
    expect(() => assertVersion(null, who)).toThrow(expect.objectContaining({ code: 'NOT_OURS' }))
})

describe.skipIf(missing !== undefined)('of a database', () => {
  let server: TestPostgres
  let databases = 0

  beforeAll(async () => {
    server = await TestPostgres.start()
  }, 60_000)
  afterAll(async () => server?.end())

  const open = async (url: string): Promise<void> => {
    const session = await new PostgresIndex(url, timers).open(CHAIN, new AbortController().signal, () => undefined)
    await session.close()
  }
  const check = (url: string): Promise<void> => new PostgresIndex(url, timers).check(CHAIN)

  async function emptyIndex(): Promise<string> {
    const url = await newDatabase(server.url(), `checks_${databases++}`)
    await open(url)
    return url
  }

  test.each([['delete from petrel.migrations'], ['drop table petrel.migrations'], ['delete from petrel.chain']])(
    'tables that were restored in part are refused, not tried again and again: %s',
    async (torn) => {
      const url = await emptyIndex()
      await check(url)
      await runSql(url, torn)
      await expect(check(url)).rejects.toMatchObject({ name: 'IndexError', code: 'NOT_OURS' })
      await expect(open(url)).rejects.toMatchObject({ name: 'IndexError', code: 'NOT_OURS' })
      const reader = new PostgresReader(url, timers)
      await expect(reader.check(CHAIN)).rejects.toMatchObject({
        code: torn.includes('from petrel.mig') ? 'NOT_OURS' : 'NOT_READABLE',
      })
      await reader.close()
    },
  )

  test('rights to every table are asked for, and ownership where the schema is to change', async () => {
    const url = await emptyIndex()
    const user = new URL(url)
    user.username = 'keeper'
    const keeper = user.toString()
    await runSql(
      url,
      'create role keeper login',
      'grant usage on schema petrel, canonical to keeper',
      'grant all on all tables in schema petrel to keeper',
    )
    await check(keeper)
    for (const [right, table] of [
      ['insert', 'logs'],
      ['update', 'messages'],
      ['delete', 'addresses'],
      ['select', 'transfers'],
      ['update', 'chain'],
      ['insert', 'tipsets'],
    ]) {
      await runSql(url, `revoke ${right} on petrel.${table} from keeper`)
      await expect(check(keeper)).rejects.toMatchObject({
        code: 'READ_ONLY',
        message: expect.stringContaining(`no right to ${right} petrel.${table}`),
      })
      await runSql(url, `grant ${right} on petrel.${table} to keeper`)
    }
    await check(keeper)
    await runSql(url, `delete from petrel.migrations where version = ${MIGRATIONS.at(-1)?.version}`)
    for (const asked of [check, open])
      await expect(asked(keeper)).rejects.toMatchObject({
        code: 'READ_ONLY',
        message: expect.stringMatching(/keeper must own .* does not own canonical\.addresses/),
      })
    // All but one table.
    await runSql(
      url,
      'create role owner login',
      'grant owner to keeper',
      'alter schema petrel owner to owner',
      'alter schema canonical owner to owner',
    )
    const sql = connect(url)
    const owned =
      await sql`select format('alter %s %s owner to owner', case relkind when 'v' then 'view' else 'table' end, oid::regclass) as give
      from pg_class where relnamespace in ('petrel'::regnamespace, 'canonical'::regnamespace) and relkind in ('r', 'v') and relname <> 'logs'`
    await sql.end()
    await runSql(url, ...owned.map(({ give }) => give as string), 'alter view canonical.logs owner to owner')
    await expect(check(keeper)).rejects.toMatchObject({ message: expect.stringContaining('does not own petrel.logs') })
    await runSql(url, 'alter table petrel.logs owner to owner')
    await open(keeper)
  })
})
