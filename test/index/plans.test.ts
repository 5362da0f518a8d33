/** How PostgreSQL answers what is asked of a large index: without reading rows that nobody asked for. */
import type { Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import { logLists, PostgresReader } from '../../platform/server/index/postgresReader.ts'
import { LOG_ROWS, MESSAGE_ROWS, pageSql } from '../../platform/server/index/questions.ts'
import type { LogQuestion } from '../../src/index/indexReader.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { connect } from './indexed.ts'
import { askQuestion, filledQuestion } from './questions.ts'
import { fillTables, RARE } from './syntheticRows.ts'
import { timers } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

const TIPSETS = 5000
const EACH = 20
/** Rows that may be read for five that are found, and for a dozen that happen to have the same topic. */
const FEW = 200
const ANCHOR = (TIPSETS - 1).toString(16).padStart(64, '0')

/** A node of a plan, with what it did. */
interface Plan {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Plan[]
}

/** How many rows were read of tables, tipsets not counted: there are few, and to walk them may be the shorter way. */
function rowsRead(plan: Plan): number {
  const table = plan['Relation Name'] ?? 'tipsets'
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = plan
  const own = table === 'tipsets' ? 0 : plan['Actual Loops'] * (plan['Actual Rows'] + filtered + rechecked)
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part), own)
}

describe.skipIf(missing !== undefined)('of a large index', () => {
  let server: TestPostgres
  let sql: Sql
  let reader: PostgresReader

  beforeAll(async () => {
    server = await TestPostgres.start()
    const chain = { network: 'synthetic', genesis: 'bafy', chainId: 1 }
    const index = new PostgresIndex(server.url(), timers)
    await (await index.open(chain, new AbortController().signal, () => undefined)).close()
    sql = connect(server.url())
    await fillTables(sql, TIPSETS, EACH)
    reader = new PostgresReader(server.url(), timers)
  }, 180_000)
  afterAll(async () => {
    await reader?.close()
    await sql?.end()
    await server?.end()
  })

  async function readBy(text: string, values: readonly (string | number)[] = []): Promise<number> {
    const [row] = await sql.unsafe(`explain (analyze, timing off, format json) ${text}`, [...values])
    const plan = row?.['QUERY PLAN']
    return rowsRead((typeof plan === 'string' ? JSON.parse(plan) : plan)[0].Plan as Plan)
  }

  const any: Pick<LogQuestion, 'emitters' | 'addresses' | 'topics'> = { emitters: [], addresses: [], topics: [] }
  const topic = (index: number): LogQuestion['topics'] =>
    [0, 1, 2, 3].map((i) => (i === index ? [RARE.topics[i] as string, '00'.repeat(32)] : undefined))
  test.each([
    ['an address', { addresses: [RARE.eth] }],
    ['emitters', { emitters: [String(RARE.actor), '4'] }],
    ['the first topic', { topics: topic(0).map((list) => list?.slice(0, 1)) }],
    ['the second topic', { topics: topic(1) }],
    ['the third topic', { topics: topic(2) }],
    ['the fourth topic', { topics: topic(3) }],
  ])('logs by %s are found without a walk over others', async (_, some) => {
    const question = { ...any, ...some, from: 0, to: TIPSETS, limit: 10_001 }
    const lists = logLists(question)
    const values = [ANCHOR, 0, TIPSETS, 10_001, ...lists.filter((list) => list !== undefined)]
    expect(await readBy(LOG_ROWS.matching(lists.map((list) => list !== undefined)), values)).toBeLessThan(FEW)
    const { rows } = await reader.logs(question, ANCHOR)
    const found = rows.filter(({ emitter }) => emitter === String(RARE.actor))
    expect(found.map(({ height, position, transaction_index }) => [height, position, transaction_index])).toEqual(
      [0, 1, 2, 3, 4].map((i) => [(i * TIPSETS) / 5 + 1, 3, 3]),
    )
  })

  test('logs by a topic that half of them have are as many as are asked for', async () => {
    const question = { ...any, topics: [['00'.repeat(32)]], from: 0, to: TIPSETS, limit: 10_001 }
    const lists = logLists(question)
    const values = [ANCHOR, 0, TIPSETS, 10_001, ...lists.filter((list) => list !== undefined)]
    const read = await readBy(LOG_ROWS.matching(lists.map((list) => list !== undefined)), values)
    // Twice as many logs, and for each of them its transaction: not all of the 50,000.
    expect(read).toBeLessThan(40_000)
    const { rows } = await reader.logs(question, ANCHOR)
    expect(rows).toHaveLength(10_001)
    expect(rows.at(-1)).toMatchObject({ height: 1000, position: 0 })
  })

  test.each([
    ['logs', LOG_ROWS.ofActor],
    ['messages', MESSAGE_ROWS.ofActor],
  ])('a page of %s of an actor that has few', async (_, rows) => {
    expect(await readBy(pageSql(rows), [ANCHOR, RARE.address, '', 0, TIPSETS, '', -1, -1, 101])).toBeLessThan(FEW)
  })

  test.each([
    ['Withdrawals that are not final yet', 2],
    ['Withdrawals that failed', 2],
    ['Fees by day', 3],
    ['Proposals of a multisig', 3],
  ])('docs/sql.md, by an address: %s', async (name, found) => {
    const variables = { address: RARE.address, since: 0 }
    expect(await readBy(filledQuestion(name, variables))).toBeLessThan(FEW)
    expect(await askQuestion(sql, name, variables)).toHaveLength(found)
  })
})
