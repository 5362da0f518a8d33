/** What an actor did, page by page, while the chain is reorganised between two pages: with an index, behind one, and without. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IndexWriter } from '../../src/index/indexWriter.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import type { Row } from '../support/recorded.ts'
import { type AskedNode, askedNode } from './askedNode.ts'
import { caughtUp } from './indexed.ts'
import { type Exchange, exchangeChain, FIL } from './indexedChain.ts'
import { neverFinal, writerOf } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

const ROUNDS = 6

describe.skipIf(missing !== undefined)('pages', () => {
  let server: TestPostgres
  let exchange: Exchange
  let writer: IndexWriter
  const nodes: Partial<Record<'with' | 'without', AskedNode>> = {}

  beforeAll(async () => {
    server = await TestPostgres.start()
    exchange = await exchangeChain()
    for (let i = 0; i < ROUNDS; i++) await exchange.mine()
    await exchange.node.devnet.mine()
    writer = writerOf(exchange.node, server.url())
    writer.start(neverFinal(exchange.node))
    await caughtUp(writer)
    nodes.with = await askedNode(exchange.node, { url: server.url(), isFirst: false })
    nodes.without = await askedNode(exchange.node)
  }, 60_000)
  afterAll(async () => {
    await writer?.stop()
    for (const node of Object.values(nodes)) await node.close()
    await server?.end()
  })

  const customer = (index: number): string => exchange.node.view.addressText(exchange.customers[index]!)
  const ask = async (name: 'with' | 'without', position: string, limit: number, to = -1): Promise<Row> => {
    const node = nodes[name] as AskedNode
    return node.ask('Filecoin.ChainListTransfers', [customer(1), 0, to, position, limit])
  }
  /** What round `i` paid to customer 1: by the bank in rounds 1 and 5, by the multisig in rounds 0 and 4. */
  const paid = [2n, 2n, 2n, 6n].map((fil) => String(fil * FIL))
  const values = (page: Row): unknown[] => (page.Transfers as Row[]).map(({ Value }) => Value)

  test.each(['with', 'without'] as const)('%s an index: every page, and what comes after the last', async (name) => {
    const seen: unknown[] = []
    let position = ''
    for (let i = 0; i < paid.length; i++) {
      const page = (await ask(name, position, 1)).result as Row
      seen.push(...values(page))
      position = page.Position as string
    }
    expect(seen).toEqual(paid)
    const end = (await ask(name, position, 10)).result as Row
    expect(end).toMatchObject({ Transfers: [], More: false })
    // What is asked again from there is what comes.
    expect(((await ask(name, end.Position as string, 10)).result as Row).Transfers).toEqual([])
    // Up to an epoch alone.
    const [first] = ((await ask(name, '', 10)).result as Row).Transfers as Row[]
    expect(values((await ask(name, '', 10, Number(first!.Height))).result as Row)).toEqual(paid.slice(0, 1))
  })

  test('a page of one goes on behind a page of the other', async () => {
    const first = (await ask('with', '', 2)).result as Row
    const second = (await ask('without', first.Position as string, 1)).result as Row
    const third = (await ask('with', second.Position as string, 10)).result as Row
    expect([first, second, third].flatMap(values)).toEqual(paid)
  })

  test('an address that nobody has', async () => {
    const node = nodes.with as AskedNode
    const { result } = await node.ask('Filecoin.ChainListTransfers', ['f0999999', 0, -1, '', 5])
    expect((result as Row).Transfers).toEqual([])
  })

  test('a reorganisation between two pages', async () => {
    const before = (await ask('with', '', 1)).result as Row
    const last = (await ask('with', '', 10)).result as Row
    expect(values(last)).toEqual(paid)
    // The last two rounds go, 4 and 5.
    await exchange.node.devnet.mine(1, { fork: 3 })
    // At once: the index may not have heard of it.
    for (const name of ['with', 'without'] as const) {
      const { error } = await ask(name, last.Position as string, 10)
      expect((error as Row).message).toContain('no longer on the chain')
      const rest = (await ask(name, before.Position as string, 10)).result as Row
      expect([before, rest].flatMap(values), name).toEqual(paid.slice(0, 2))
    }
  })
})
