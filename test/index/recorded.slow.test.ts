/** Rows of recorded chains are what Lotus answered about them: messages and receipts, fees, transfers, transactions and logs. */

import type { Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromBase64, toHex, utf8 } from '../../src/base/bytes.ts'
import { finish } from '../../src/base/steps.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { keccak256 } from '../../src/crypto/hashes.ts'
import { collectTransfers } from '../../src/transfers/collectTransfers.ts'
import { tipsetKeyCid } from '../../src/types/tipset.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { type Row, recordedCalls } from '../support/recorded.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'
import { lookupIn, recordedTipsets } from '../transfers/recordedChain.ts'
import { caughtUp, connect, newDatabase } from './indexed.ts'
import { askQuestion } from './questions.ts'
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
      tokens: await compareTokens(chain, sql),
      payments: await comparePayments(chain, sql),
    }
    await sql.end()
    console.log(chain, JSON.stringify(compared))
    expect(compared.messages).toBeGreaterThan(100)
    expect(compared.transfers).toBeGreaterThan(100)
    expect(compared.returns).toBeGreaterThan(20)
    expect(compared.logs).toBeGreaterThan(10)
    expect(compared.tokens).toBeGreaterThan(0)
    expect(compared.payments).toBeGreaterThan(10)
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
    const { transfers } = finish(collectTransfers(executed, lookup(root)))
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

/** Actors below it are the system's. @see go-state-types builtin/singletons.go FirstNonSingletonActorId */
const FIRST_OWN_ID = 100

const topicOf = (signature: string): string => toHex(keccak256(utf8(signature)))
const TRANSFER = topicOf('Transfer(address,address,uint256)')
/** Of the recorded `Ledger`: an ERC-20's event by another name. @see ../shared/data/golden/contracts/golden.sol */
const PAID = topicOf('Paid(address,address,uint256)')

/** Transfers of a token, as docs/sql.md asks for them, by `eth_getBlockReceipts`. @returns transfers */
async function compareTokens(chain: string, sql: Sql): Promise<number> {
  const asPaid = (query: string): string => {
    expect(query).toContain(TRANSFER)
    return query.replace(TRANSFER, PAID)
  }
  const [top] = await sql`select height from canonical.head`
  const expected = new Map<string, Map<string, Row>>()
  for (const { response } of recordedCalls(chain, 'chain.jsonl.zst', ['eth_getBlockReceipts'])) {
    for (const { logs } of (response.result ?? []) as Row[]) {
      for (const { address, topics, data, transactionHash, blockNumber, logIndex } of logs as Row[]) {
        const [topic, from, to] = topics as string[]
        if (topic !== `0x${PAID}` || Number(blockNumber) > Number(top?.height)) continue
        const key = `${(address as string).slice(2)} ${to?.slice(26)}`
        const row = {
          height: Number(blockNumber),
          transaction: transactionHash ?? null,
          sender: `0x${from?.slice(26)}`,
          amount: data ?? null,
        }
        const rows = expected.get(key) ?? new Map<string, Row>()
        // A tipset is asked for by number and by hash.
        expected.set(key, rows.set(`${blockNumber} ${logIndex}`, row))
      }
    }
  }
  let count = 0
  for (const [key, rows] of expected) {
    const [contract = '', recipient = ''] = key.split(' ')
    const found = await askQuestion(sql, 'Transfers of a token', { contract, recipient, since: 0 }, asPaid)
    const told = found.map(({ height, transaction, sender, amount }) => ({
      ...{ height: Number(height), transaction, sender, amount },
    }))
    expect(told, `${chain} ${key}`).toEqual([...rows.values()])
    count += told.length
  }
  return count
}

/** Who was paid through a contract or multisig, as docs/sql.md asks for it, by the recorded traces of `StateCompute`. @returns payments */
async function comparePayments(chain: string, sql: Sql): Promise<number> {
  const idOf = async (address: string): Promise<string> => {
    if (/^t0/.test(address)) return address.slice(2)
    const [row] = await sql`select actor::text from canonical.addresses where address = ${address}`
    return row?.actor ?? address
  }
  const expected = new Map<string, string[]>()
  for (const { params, response } of recordedCalls(chain, 'chain.jsonl.zst', ['Filecoin.StateCompute'])) {
    const [height, extra, key] = params as [number, Row[] | null, Row[] | null]
    if (key === null || key.length === 0 || (extra !== null && extra.length > 0)) continue
    const [tipset] = await sql`select from canonical.tipsets
      where height = ${height} and encode(tipset, 'hex') = ${nameOf(key.map((one) => one['/'] as string))}`
    if (tipset === undefined) continue
    for (const { Msg, MsgCid, GasCost, ExecutionTrace } of ((response.result as Row).Trace ?? []) as Row[]) {
      if ((GasCost as Row).Message === null) continue
      const [sent, message] = [Msg as Row, (MsgCid as Row)['/']]
      for (const { From, To, Value } of paidInside(ExecutionTrace as Row)) {
        const payer = await idOf(From as string)
        const recipient = await idOf(To as string)
        const row = [height, message, sent.From, sent.To, payer, Value].join(' ')
        expected.set(recipient, [...(expected.get(recipient) ?? []), row])
      }
    }
  }
  let count = 0
  for (const [actor, rows] of expected) {
    // The system's own have no address but their number, and nobody asks for them.
    if (Number(actor) < FIRST_OWN_ID) continue
    const [named] =
      await sql`select address from canonical.addresses where actor = ${actor} order by height desc limit 1`
    const found = await askQuestion(sql, 'Who paid us through a contract or multisig', {
      address: named?.address ?? '',
    })
    const told = await Promise.all(
      found.map(async ({ height, message, caller, called, payer, value }) =>
        [height, message, caller, called, await idOf(payer as string), value].join(' '),
      ),
    )
    expect(told, `${chain} t0${actor}`).toEqual(rows)
    count += told.length
  }
  return count
}

/** Calls of a message's call that moved value for good, in order. */
function paidInside({ MsgRct, Subcalls }: Row): Row[] {
  if ((MsgRct as Row).ExitCode !== 0) return []
  return ((Subcalls ?? []) as Row[]).flatMap((call) => {
    const [msg, receipt] = [call.Msg as Row, call.MsgRct as Row]
    return receipt.ExitCode !== 0 ? [] : [...(msg.Value === '0' ? [] : [msg]), ...paidInside(call)]
  })
}
