/**
 * What an index answers is what Lotus recorded: searches of messages, transactions and logs by a node that has forgotten all but headers,
 * and what an actor did, page by page, with the index and without.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { firstDifference } from '../../scripts/golden/compare.ts'
import { putPooledMessages } from '../../scripts/golden/pooledMessages.ts'
import { finish } from '../../src/base/steps.ts'
import { storeBlockMessages } from '../../src/chain/blockMessages.ts'
import { type Json, stringifyJson } from '../../src/codec/jsonText.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { collectTransfers } from '../../src/transfers/collectTransfers.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { type Row, recordedCalls } from '../support/recorded.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared, sharedPath } from '../support/shared.ts'
import { lookupIn, recordedTipsets } from '../transfers/recordedChain.ts'
import { type AskedNode, askedNode, headersOnly } from './askedNode.ts'
import { caughtUp, newDatabase } from './indexed.ts'
import { neverFinal, writerOf } from './writers.ts'

const missing = missingPostgres() ?? missingShared('data/golden')
if (missing !== undefined) console.log(`skipped: ${missing}`)

/** What a forgetful node answers by its index. */
const OF_ANY_AGE = [
  'Filecoin.StateSearchMsg',
  'Filecoin.StateSearchMsgLimited',
  'Filecoin.StateGetReceipt',
  'Filecoin.ChainGetMessage',
  'Filecoin.ChainGetBlockMessages',
  'Filecoin.ChainGetParentMessages',
  'Filecoin.ChainGetParentReceipts',
  'Filecoin.ChainGetMessagesInTipset',
  'Filecoin.EthGetTransactionHashByCid',
  'Filecoin.EthGetMessageCidByTransactionHash',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_getBlockReceipts',
  'eth_getBlockTransactionCountByNumber',
]

/** Of each method's many questions every fourth after the first twenty; all with `PETREL_HISTORY=all`. */
const isAsked = (count: number): boolean => process.env.PETREL_HISTORY === 'all' || count < 20 || count % 4 === 0

describe.skipIf(missing !== undefined).each(['nv28'])('%s', (chain) => {
  let server: TestPostgres
  const nodes: Partial<Record<'whole' | 'forgetful' | 'replica', AskedNode>> = {}
  let recorded: ReturnType<typeof openRecordedView>

  beforeAll(async () => {
    await initCrypto()
    server = await TestPostgres.start()
    recorded = openRecordedView(chain)
    const { view } = recorded
    const whole = { view, vm: recorded.vm }
    const url = await newDatabase(server.url(), chain)
    const writer = writerOf(whole, url)
    writer.start(neverFinal(whole))
    await caughtUp(writer, 180_000)
    await writer.stop()
    nodes.whole = await askedNode(whole)
    const bare = headersOnly(view)
    // Not executed yet: a node has these, an index does not.
    for (const block of view.store.head().blocks) storeBlockMessages(bare.store.blocks, view.blockMessages(block))
    putPooledMessages(sharedPath(`data/golden/${chain}`), bare.store.blocks)
    const vm = whole.vm
    nodes.forgetful = await askedNode({ view: bare, vm }, { url, isFirst: false })
    nodes.replica = await askedNode({ view: bare, vm }, { url, isFirst: true })
  }, 200_000)
  afterAll(async () => {
    for (const node of Object.values(nodes)) await node.close()
    await server?.end()
  })

  const node = (name: keyof typeof nodes): AskedNode => nodes[name] as AskedNode

  test.each(['forgetful', 'replica'] as const)('searches by a node that is %s', async (name) => {
    const counts: Record<string, number> = {}
    const wrong: string[] = []
    const pooled = new Set(
      recordedCalls(chain, 'chain.jsonl.zst', ['eth_getTransactionByHash'])
        .filter(({ response }) => (response.result as Row | null)?.blockHash === null)
        .map(({ params }) => params[0] ?? null),
    )
    for (const { path, method, params, response } of recordedCalls(chain, 'chain.jsonl.zst', OF_ANY_AGE)) {
      // What waits in the pool is no history.
      if (pooled.has(params[0] ?? null)) continue
      // It was the head then: its logs were not known yet.
      if (/^0xf+$/.test(String((response.result as Row | null)?.logsBloom))) continue
      const count = counts[method] ?? 0
      counts[method] = count + 1
      if (!isAsked(count)) continue
      const actual = await node(name).ask(method, params, path)
      const difference =
        firstDifference(response.result ?? null, actual.result ?? null) ??
        firstDifference((response.error as Row | undefined)?.message, (actual.error as Row | undefined)?.message)
      if (difference !== undefined)
        wrong.push(`${path} ${method} ${stringifyJson(params)}: ${difference} ${stringifyJson(actual.error ?? null)}`)
    }
    expect(wrong.slice(0, 5), `${wrong.length} wrong`).toEqual([])
    for (const method of OF_ANY_AGE) expect(counts[method] ?? 0, method).toBeGreaterThan(1)
  })

  /** Whether a recorded tipset is an executed one of the head's chain. */
  function isOnChain(height: number, key: readonly string[]): boolean {
    const { store } = recorded.view
    return height < store.head().height && store.tipsetByHeight(height, undefined, 'next').key.join() === key.join()
  }

  /** All pages of a list. */
  async function pages(
    name: keyof typeof nodes,
    method: string,
    member: string,
    params: Json[],
    limit: number,
  ): Promise<Json[]> {
    const rows: Json[] = []
    for (let position: Json = ''; ; ) {
      const { result, error } = await node(name).ask(method, [...params, position, limit])
      if (error !== undefined) throw new Error(stringifyJson(error))
      const page = result as Row
      rows.push(...(page[member] as Json[]))
      position = page.Position as string
      if (page.More !== true) return rows
    }
  }

  test('transfers by address', { timeout: 120_000 }, async () => {
    const expected = new Map<bigint, string[]>()
    for (const { height, key, root, executed } of recordedTipsets(chain)) {
      if (!isOnChain(height, key)) continue
      const { transfers } = finish(collectTransfers(executed, lookupIn(recorded.view.store.blocks, root)))
      for (const { kind, message, index, path, from, to, value, method } of transfers) {
        const cid = message === null ? null : String(message)
        const text = [height, key.join(), kind, cid, index, path.join('.'), from, to, value, method].join(' ')
        for (const actor of new Set([from, to])) expected.set(actor, [...(expected.get(actor) ?? []), text])
      }
    }
    // Not the two that are part of every block.
    const actors = [...expected].filter(([, list]) => list.length > 4 && list.length < 400).slice(0, 12)
    expect(actors.length).toBeGreaterThan(3)
    const known = new Set(recordedTipsets(chain).map(({ key }) => key.join()))
    for (const [actor, list] of actors) {
      for (const name of ['replica', 'whole'] as const) {
        const rows = (await pages(name, 'Filecoin.ChainListTransfers', 'Transfers', [`f0${actor}`, 0, -1], 7)) as Row[]
        const texts = rows
          .map((row) => {
            const key = (row.TipSet as Row[]).map((one) => one['/']).join()
            const id = (text: Json | undefined): string => String(text).slice(2)
            return {
              key,
              text: [
                ...[row.Height, key, row.Kind, (row.Message as Row | null)?.['/'] ?? null, row.Index],
                ...[(row.Path as number[]).join('.'), id(row.From), id(row.To), row.Value, row.Method],
              ].join(' '),
            }
          })
          .filter(({ key }) => known.has(key))
        expect(
          texts.map(({ text }) => text),
          `${name} f0${actor}`,
        ).toEqual(list)
      }
    }
  })

  test('messages by address', { timeout: 120_000 }, async () => {
    const expected = new Map<string, Json[]>()
    const keys = new Set<string>()
    for (const { params, response } of recordedCalls(chain, 'chain.jsonl.zst', ['Filecoin.StateCompute'])) {
      const [height, extra, key] = params as [number, Row[] | null, Row[] | null]
      if (key === null || key.length === 0 || (extra !== null && extra.length > 0)) continue
      if (
        !isOnChain(
          height,
          key.map((one) => one['/'] as string),
        )
      )
        continue
      keys.add(key.map((one) => one['/']).join())
      const explicit = (((response.result as Row).Trace ?? []) as Row[]).filter(
        ({ GasCost }) => (GasCost as Row).Message !== null,
      )
      for (const { MsgCid, Msg, MsgRct } of explicit) {
        const { CID: _, ...bare } = Msg as Row
        const from = bare.From as string
        const row = { Height: height, Cid: MsgCid ?? null, Message: bare, Receipt: MsgRct ?? null }
        expected.set(from, [...(expected.get(from) ?? []), row])
      }
    }
    const senders = [...expected].sort((a, b) => b[1].length - a[1].length).slice(0, 5)
    expect(senders.length).toBeGreaterThan(2)
    for (const [sender, list] of senders) {
      for (const name of ['replica', 'whole'] as const) {
        const rows = (await pages(name, 'Filecoin.ChainListMessages', 'Messages', [sender, 0, -1], 5)) as Row[]
        const sent = rows
          .filter(
            ({ Message, TipSet }) =>
              (Message as Row).From === sender && keys.has((TipSet as Row[]).map((one) => one['/']).join()),
          )
          .map(({ Height, Cid, Message, Receipt }) => {
            const { CID: _, ...bare } = Message as Row
            return { Height, Cid, Message: bare, Receipt }
          })
        expect(firstDifference(list, sent as Json), `${name} ${sender}`).toBeUndefined()
      }
    }
  })

  test('logs by address, and over any range', { timeout: 120_000 }, async () => {
    const byAddress = new Map<string, Json[]>()
    const all: Json[] = []
    const receipts = recordedCalls(chain, 'chain.jsonl.zst', ['eth_getBlockReceipts'])
      .flatMap(({ response }) => (response.result ?? []) as Row[])
      .sort(
        (a, b) =>
          Number(a.blockNumber) - Number(b.blockNumber) || Number(a.transactionIndex) - Number(b.transactionIndex),
      )
    for (const { logs } of receipts) {
      for (const log of logs as Row[]) {
        all.push(log)
        byAddress.set(log.address as string, [...(byAddress.get(log.address as string) ?? []), log])
      }
    }
    expect(all.length).toBeGreaterThan(10)
    const { view } = recorded
    const top = `0x${(view.store.head().height - 1).toString(16)}`
    for (const name of ['replica', 'forgetful', 'whole'] as const) {
      const { result, error } = await node(name).ask('eth_getLogs', [{ fromBlock: '0x0', toBlock: top }])
      expect(error).toBeUndefined()
      expect(firstDifference(all, result ?? null), name).toBeUndefined()
    }
    for (const [address, logs] of byAddress) {
      const { result } = await node('whole').ask('Filecoin.EthAddressToFilecoinAddress', [address])
      for (const name of ['replica', 'whole'] as const) {
        const rows = await pages(name, 'Filecoin.ChainListLogs', 'Logs', [result ?? null, 0, -1], 3)
        expect(firstDifference(logs, rows), `${name} ${address}`).toBeUndefined()
      }
    }
  })

  test('what a page is refused', async () => {
    const ask = async (position: string): Promise<string> =>
      String(
        ((await node('replica').ask('Filecoin.ChainListTransfers', ['f01', 0, -1, position, 1])).error as Row).message,
      )
    expect(await ask('behind')).toContain('expected the Position of an earlier answer')
    // A tipset that never was.
    expect(await ask(`3:${'ab'.repeat(32)}:0`)).toContain('no longer on the chain')
  })
})
