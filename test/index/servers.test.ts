/** An index whose URL names several servers: what is read of the URL, and which server is taken. */
import { expect, test } from 'vitest'
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import { PostgresReader } from '../../platform/server/index/postgresReader.ts'
import { isServersUrl, serverUrls } from '../../platform/server/index/serverUrls.ts'
import { indexedChain } from '../../src/index/indexWriter.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { allRows, caughtUp, connect, freshRows, newDatabase } from './indexed.ts'
import { exchangeChain } from './indexedChain.ts'
import { neverFinal, timers, writerOf } from './writers.ts'

test('URLs of one server and of several', () => {
  expect(serverUrls('postgres://a:b@first,second:5433/chain?sslmode=require&target_session_attrs=read-write')).toEqual([
    'postgres://a:b@first/chain?sslmode=require',
    'postgres://a:b@second:5433/chain?sslmode=require',
  ])
  expect(serverUrls('postgresql://[::1]:1,[::2]:2/x')).toEqual(['postgresql://[::1]:1/x', 'postgresql://[::2]:2/x'])
  const shown = new PostgresIndex('postgres://user:secret@first:1,second:2/chain?password=secret', timers).name
  expect(shown).toBe('postgres://user@first:1,second:2/chain')
  for (const wrong of [
    'mysql://a/b',
    'postgres://',
    'postgres://a:1,b:x/c',
    'postgres://a/b?target_session_attrs=standby',
  ])
    expect(isServersUrl(wrong), wrong).toBe(false)
})

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

test.skipIf(missing !== undefined)(
  'the server that answers and takes writes is taken',
  { timeout: 60_000 },
  async () => {
    const server = await TestPostgres.start()
    try {
      const { node, mine } = await exchangeChain()
      for (let i = 0; i < 3; i++) await mine()
      const url = await newDatabase(server.url(), 'taken')
      const { host } = new URL(url)
      const withDead = (rest = ''): string => `${url.replace(host, `127.0.0.1:1,${host}`)}${rest}`
      const writer = writerOf(node, withDead())
      await writer.check()
      writer.start(neverFinal(node))
      await caughtUp(writer)
      await writer.stop()
      expect(await allRows(url, 'canonical')).toEqual(await freshRows(node, await newDatabase(server.url(), 'fresh')))

      // As a standby does.
      const sql = connect(server.url())
      await sql.unsafe('alter database taken set default_transaction_read_only = on')
      const chain = indexedChain(node.view)
      const code = async (run: Promise<void>): Promise<string> =>
        run.then(
          () => 'ok',
          (error) => (error as { code: string }).code,
        )
      const reading = async (text: string): Promise<string> => {
        const reader = new PostgresReader(text, timers)
        const told = await code(reader.check(chain))
        await reader.close()
        return told
      }
      expect(await code(new PostgresIndex(url, timers).check(chain))).toBe('READ_ONLY')
      // The one that does not answer may be the one that takes writes.
      expect(await code(new PostgresIndex(withDead(), timers).check(chain))).toBe('CONNECTION_LOST')
      expect(await reading(withDead())).toBe('ok')
      expect(await reading(withDead('?target_session_attrs=read-write'))).toBe('CONNECTION_LOST')
      expect(await reading(`${url}?target_session_attrs=read-write`)).toBe('NOT_READABLE')
      await sql.unsafe('alter database taken reset default_transaction_read_only')
      expect(await reading(withDead('?target_session_attrs=read-write'))).toBe('ok')
      await sql.end()
    } finally {
      await server.end()
    }
  },
)
