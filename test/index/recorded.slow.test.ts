/** Rows of recorded chains are what Lotus answered about them: messages and receipts, fees, transfers, transactions and logs. */

import type { Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromBase64, toHex } from '../../src/base/bytes.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { collectTransfers } from '../../src/transfers/collectTransfers.ts'
import { tipsetKeyCid } from '../../src/types/tipset.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { type Row, recordedCalls } from '../support/recorded.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'
import { lookupIn, recordedTipsets } from '../transfers/recordedChain.ts'
import { caughtUp, connect, newDatabase } from './indexed.ts'
import { neverFinal, writerOf } from './writers.ts'

const missing = missingPostgres() ?? missingShared('data/golden')
if (missing !== undefined) console.log(`skipped: ${missing}`)

const hex = (base64: unknown): string => toHex(fromBase64((base64 as string | null) ?? ''))

describe.skipIf(missing !== undefined)('rows are what Lotus recorded', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await TestPostgres.start()
  }, 60_000)
  afterAll(async () => server?.end())

  test.each(['nv28', 'nv22'])('%s', { timeout: 200_000 }, async (chain) => {
    const { view, vm, executes } = openRecordedView(chain)
    if (!executes) return console.log(`skipped: no actors bundle for ${chain}`)
    const url = await newDatabase(server.url(), chain)
    const indexed = { view, vm: vm }
    const writer = writerOf(indexed, url)
    writer.start(neverFinal(indexed))
    await caughtUp(writer, 180_000)
    await writer.stop()
    const sql = connect(url)
    const compared = {
      messages: await compareMessages(chain, sql),
      transfers: await compareTransfers(chain, sql, (root) => lookupIn(view.store.blocks, root)),
      returns: await compareReturns(chain, sql),
      logs: await compareReceipts(chain, sql),
    }
    await sql.end()
    console.log(chain, JSON.stringify(compared))
    expect(compared.messages).toBeGreaterThan(100)
    expect(compared.transfers).toBeGreaterThan(100)
    expect(compared.returns).toBeGreaterThan(20)
    expect(compared.logs).toBeGreaterThan(10)
  })
})

const nameOf = (key: readonly string[]): string => toHex(tipsetKeyCid(key.map(parseCid)).digest)

/** Messages, receipts and fees by `StateCompute`. */
async function compareMessages(chain: string, sql: Sql): Promise<number> {
  let count = 0
  for (const { params, response } of recordedCalls(chain, 'chain.jsonl.zst', ['Filecoin.StateCompute'])) {
    const [height, extra, key] = params as [number, Row[] | null, Row[] | null]
    if (key === null || key.length === 0 || (extra !== null && extra.length > 0)) continue
    const rows =
      await sql`select cid, from_address, to_address, nonce::text, value::text, gas_limit::text, gas_fee_cap::text,
        gas_premium::text, method::text, encode(params, 'hex') as params, exit_code::int, encode(returned, 'hex') as returned,
        gas_used::text, burned::text, tip::text
      from canonical.messages where height = ${height} and encode(tipset, 'hex') = ${nameOf(key.map((one) => one['/'] as string))}
      order by position`
    const trace = ((response.result as Row).Trace ?? []) as Row[]
    const explicit = trace.filter(({ GasCost }) => (GasCost as Row).Message !== null)
    // The head, and a tipset that is computed at another epoch than its own.
    if (rows.length === 0) continue
    const expected = explicit.map(({ MsgCid, Msg, MsgRct, GasCost }) => {
      const [msg, receipt, gas] = [Msg as Row, MsgRct as Row, GasCost as Row]
      return {
        cid: (MsgCid as Row)['/'],
        from_address: msg.From,
        to_address: msg.To,
        nonce: String(msg.Nonce),
        value: msg.Value,
        gas_limit: String(msg.GasLimit),
        gas_fee_cap: msg.GasFeeCap,
        gas_premium: msg.GasPremium,
        method: String(msg.Method),
        params: hex(msg.Params),
        exit_code: receipt.ExitCode,
        returned: hex(receipt.Return),
        gas_used: String(receipt.GasUsed),
        burned: String(BigInt(gas.BaseFeeBurn as string) + BigInt(gas.OverEstimationBurn as string)),
        tip: gas.MinerTip,
      }
    })
    expect([...rows], `${chain} ${height}`).toEqual(expected)
    count += rows.length
  }
  return count
}

/** Transfers by the recorded traces. */
async function compareTransfers(
  chain: string,
  sql: Sql,
  lookup: (root: ReturnType<typeof parseCid>) => Parameters<typeof collectTransfers>[1],
): Promise<number> {
  let count = 0
  for (const { height, key, root, executed } of recordedTipsets(chain)) {
    const tipset = nameOf(key)
    const rows =
      await sql`select kind, message, execution, array_to_json(path) as path, from_actor::text, to_actor::text,
        value::text, method::text from canonical.transfers
      where height = ${height} and encode(tipset, 'hex') = ${tipset} order by position`
    if (rows.length === 0) continue
    const { transfers } = collectTransfers(executed, lookup(root))
    const expected = transfers.map(({ kind, message, index, path, from, to, value, method }) => ({
      ...{ kind, message: message === null ? null : String(message), execution: index, path },
      ...{ from_actor: String(from), to_actor: String(to), value: String(value), method: String(method) },
    }))
    expect([...rows], `${chain} ${height}`).toEqual(expected)
    count += rows.length
  }
  return count
}

/** Decoded returns by `StateWaitMsg`. */
async function compareReturns(chain: string, sql: Sql): Promise<number> {
  let count = 0
  for (const { params, response } of recordedCalls(chain, 'chain.jsonl.zst', ['Filecoin.StateWaitMsg'])) {
    const found = response.result as Row | null | undefined
    const cid = params.map((one) => (one as Row | null)?.['/']).find((one) => typeof one === 'string') as string
    if (found?.ReturnDec === null || found?.ReturnDec === undefined) continue
    const [row] = await sql`select returned_json::text as json from canonical.messages where cid = ${cid}`
    if (row === undefined) continue
    expect(sorted(parseJson(row.json)), cid).toBe(sorted(found.ReturnDec))
    count++
  }
  return count
}

/** Text of a value whose keys are in order: `jsonb` keeps none. */
function sorted(value: ReturnType<typeof parseJson>): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`
  if (typeof value !== 'object' || value === null) return stringifyJson(value)
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${key}:${sorted(value[key] ?? null)}`)
    .join()}}`
}

/** Transactions and logs by `eth_getBlockReceipts`. @returns logs */
async function compareReceipts(chain: string, sql: Sql): Promise<number> {
  let count = 0
  const bare = (text: unknown): string | null => (text === null ? null : (text as string).slice(2))
  for (const { response } of recordedCalls(chain, 'chain.jsonl.zst', ['eth_getBlockReceipts'])) {
    for (const receipt of (response.result ?? []) as Row[]) {
      const [row] = await sql`select position, encode(sender, 'hex') as sender, encode(recipient, 'hex') as recipient,
          succeeded, encode(created, 'hex') as created, type from canonical.eth_transactions
        where encode(tipset, 'hex') = ${bare(receipt.blockHash)} and encode(hash, 'hex') = ${bare(receipt.transactionHash)}`
      if (row === undefined) continue
      expect(row).toEqual({
        position: Number(receipt.transactionIndex),
        sender: bare(receipt.from),
        recipient: bare(receipt.to),
        succeeded: receipt.status === '0x1',
        created: bare(receipt.contractAddress),
        type: Number(receipt.type),
      })
      const logs = await sql`select log_index, encode(address, 'hex') as address, encode(data, 'hex') as data,
          encode(topic0, 'hex') as t0, encode(topic1, 'hex') as t1, encode(topic2, 'hex') as t2, encode(topic3, 'hex') as t3
        from canonical.logs where encode(tipset, 'hex') = ${bare(receipt.blockHash)}
          and encode(transaction, 'hex') = ${bare(receipt.transactionHash)} order by log_index`
      const expected = (receipt.logs as Row[]).map(({ logIndex, address, data, topics }) => {
        const [t0 = null, t1 = null, t2 = null, t3 = null] = topics as string[]
        return {
          ...{ log_index: Number(logIndex), address: bare(address), data: bare(data) },
          ...{ t0: bare(t0), t1: bare(t1), t2: bare(t2), t3: bare(t3) },
        }
      })
      expect([...logs]).toEqual(expected)
      count += logs.length
    }
  }
  return count
}
