/** Every query of docs/sql.md, on a chain of which is known who paid whom. */

import type { Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encode } from '../../src/codec/description.ts'
import { proposeParams } from '../../src/state/params/multisig.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import { signedMessageCid } from '../../src/types/signedMessage.ts'
import { keyAddress } from '../mempool/fakes.ts'
import { signedBy } from '../support/devnetNode.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { caughtUp, connect } from './indexed.ts'
import { type Exchange, exchangeChain, FIL } from './indexedChain.ts'
import { askQuestion, questions, type Variables } from './questions.ts'
import { finalAt, neverFinal, writerOf } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

const ROUNDS = 8

describe.skipIf(missing !== undefined)('docs/sql.md', () => {
  let server: TestPostgres
  let exchange: Exchange
  let sql: Sql
  const asked = new Set<string>()

  async function ask(name: string, variables: Variables): Promise<Record<string, unknown>[]> {
    asked.add(name)
    return askQuestion(sql, name, variables)
  }

  /** The name of a customer's address. */
  const customer = (index: number): string => exchange.node.view.addressText(exchange.customers[index]!)
  const account = (index: number): string => exchange.node.view.addressText(exchange.node.plan.accounts[index]!.address)
  const robust = (): string => exchange.node.view.addressText(exchange.multisig.robust)
  /** What round `i` paid: by the bank to customer i, by the multisig to customer i + 1. */
  const rounds = Array.from({ length: ROUNDS }, (_, i) => ({ customer: i % 4, other: (i + 1) % 4, fil: BigInt(i + 1) }))
  const totalOf = (index: number): bigint =>
    rounds.reduce(
      (sum, { customer: to, other, fil }) => sum + (to === index ? fil : 0n) + (other === index ? 2n : 0n),
      0n,
    ) * FIL

  beforeAll(async () => {
    server = await TestPostgres.start()
    exchange = await exchangeChain()
    for (let i = 0; i < ROUNDS; i++) await exchange.mine()
    // The last round is executed by this one.
    await exchange.node.devnet.mine()
    const writer = writerOf(exchange.node, server.url())
    writer.start(finalAt(() => exchange.node.store.tipsetByHeight(4, undefined, 'previous')))
    await caughtUp(writer)
    await writer.stop()
    sql = connect(server.url())
  }, 60_000)
  afterAll(async () => {
    await sql?.end()
    await server?.end()
  })

  test('deposits', async () => {
    const rows = await ask('Deposits of an address since an epoch', { address: customer(1), since: 0 })
    const expected = rounds.flatMap(({ customer: to, other, fil }) =>
      to === 1 ? [['message', fil * FIL]] : other === 1 ? [['internal', 2n * FIL]] : [],
    )
    expect(rows.map(({ kind, value }) => [kind, BigInt(value as string)])).toEqual(expected)
    expect(rows.map(({ final }) => final)).toContain(true)
    expect(rows.map(({ final }) => final)).toContain(false)
    const later = await ask('Deposits of an address since an epoch', { address: customer(1), since: 7 })
    expect(later.length).toBeLessThan(rows.length)
  })

  test('unswept balances', async () => {
    const addresses = [0, 1, 2, 3].map(customer).join()
    const rows = await ask('Unswept balances', { addresses, floor: String(15n * FIL) })
    const expected = [0, 1, 2, 3].map((i) => [customer(i), totalOf(i)] as const).filter(([, sum]) => sum > 15n * FIL)
    expect(expected.length).toBeGreaterThan(0)
    expect(rows.map(({ address, balance }) => [address, BigInt(balance as string)]).sort()).toEqual(expected.sort())
  })

  test('withdrawals that are not final, and those that failed', async () => {
    const open = await ask('Withdrawals that are not final yet', { address: account(0) })
    expect(open.every(({ height }) => Number(height) > 4)).toBe(true)
    expect(open.map(({ exit_code }) => exit_code === '0')).toEqual(open.map((_, i) => i % 2 === 0))
    const all = await ask('Withdrawals that failed', { address: account(0), since: 0 })
    expect(all).toHaveLength(ROUNDS)
    // SysErrInsufficientFunds.
    expect(all.every(({ exit_code, fee }) => exit_code === '6' && BigInt(fee as string) > 0n)).toBe(true)
  })

  test('fees by day', async () => {
    const rows = await ask('Fees by day', { address: account(0) })
    expect(rows.reduce((sum, { messages }) => sum + Number(messages), 0)).toBe(2 * ROUNDS)
    const paid = rows.reduce((sum, { burned, tips }) => sum + BigInt(burned as string) + BigInt(tips as string), 0n)
    const sent = rounds.reduce((sum, { fil }) => sum + fil, 0n) * FIL
    const { view, plan, store } = exchange.node
    const tree = view.stateBefore(store.head())
    const [bank] = plan.accounts
    expect(paid).toBe(bank!.balance - sent - tree.getActor(tree.lookupId(bank!.address)!)!.balance)
  })

  test('proof of reserves', async () => {
    const { store, view } = exchange.node
    for (const epoch of [3, 6, 9]) {
      const rows = await ask('Proof of reserves at an epoch', { addresses: [account(0), customer(0)].join(), epoch })
      const tree = view.stateBefore(store.tipsetByHeight(epoch + 1, undefined, 'next'))
      const held = [exchange.node.plan.accounts[0]!.address, exchange.customers[0]!].flatMap((address) => {
        const id = tree.lookupId(address)
        return id === undefined ? [] : [[view.addressText(address), tree.getActor(id)!.balance] as const]
      })
      expect(rows.map(({ address, balance }) => [address, BigInt(balance as string)])).toEqual(held.sort())
    }
  })

  test('who paid through a multisig, and its proposals', async () => {
    const rows = await ask('Who paid us through a contract or multisig', { address: customer(2) })
    expect(rows).toHaveLength(rounds.filter(({ other }) => other === 2).length)
    for (const { caller, called, value, path } of rows) {
      expect([caller, called, BigInt(value as string)]).toEqual([account(1), robust(), 2n * FIL])
      expect(path).not.toEqual([])
    }
    const proposals = await ask('Proposals of a multisig', { address: robust() })
    expect(
      proposals.map(({ recipient, value, applied, transaction }) => [
        recipient,
        BigInt(value as string),
        applied,
        transaction,
      ]),
    ).toEqual(rounds.map(({ other }, i) => [customer(other), 2n * FIL, true, i]))
    const spent = await ask('Where the money of a message went', { cid: String(proposals[0]?.cid) })
    expect(spent.map(({ kind, to_address }) => [kind, to_address])).toEqual([['internal', customer(1)]])
  })

  test('the account of an address', async () => {
    const rows = await ask('The account of an address', { address: customer(3), since: 0 })
    let sum = 0n
    for (const { change, balance } of rows) {
      sum += BigInt(change as string)
      expect(BigInt(balance as string)).toBe(sum)
    }
    expect(sum).toBe(totalOf(3))
  })

  test('what a reorganisation took away', async () => {
    expect(await ask('Deposits that a reorganisation took away', { since: 0 })).toEqual([])
    await exchange.node.devnet.mine(1, { fork: 3 })
    const writer = writerOf(exchange.node, server.url())
    writer.start(neverFinal(exchange.node))
    await caughtUp(writer)
    await writer.stop()
    const rows = await ask('Deposits that a reorganisation took away', { since: 0 })
    const lost = rounds
      .slice(-2)
      .flatMap(({ customer: to, other, fil }) => [`${customer(to)} ${fil * FIL}`, `${customer(other)} ${2n * FIL}`])
    expect(rows.map(({ to_address, value }) => `${to_address} ${value}`).sort()).toEqual(lost.sort())
  })

  test('a message that pays somebody else, or another amount, after a reorganisation', async () => {
    const { node } = exchange
    const { devnet, pending, plan, store, view, vm } = node
    const [bank] = plan.accounts
    const reindexed = async (): Promise<void> => {
      const writer = writerOf(node, server.url())
      writer.start(neverFinal(node))
      await caughtUp(writer)
      await writer.stop()
    }
    const tree = view.stateTree((await vm.tipsetState(store.head())).stateRoot)
    const nonce = tree.getActor(tree.lookupId(bank!.address)!)!.nonce
    const next = [...tree.addresses()].reduce((most, [, id]) => (id > most ? id : most), 0n) + 1n
    const [one, other] = [keyAddress(900), keyAddress(901)]
    // By an ID that the tipset itself gives, to whoever is first.
    const byId = signedBy(bank!, { to: idAddress(next), value: 7n * FIL, nonce: nonce + 1n })
    const known = signedBy(bank!, { to: exchange.customers[0]!, value: 9n * FIL, nonce: nonce + 2n })
    const mineFor = async (newcomer: Address, options = {}): Promise<void> => {
      pending.push(signedBy(bank!, { to: newcomer, value: FIL, nonce }), byId, known)
      await devnet.mine(1, options)
      pending.length = 0
      await devnet.mine()
    }
    await mineFor(one)
    await reindexed()
    await mineFor(other, { fork: 2 })
    await reindexed()
    const since = store.head().height - 4
    const lost = async (): Promise<string[]> => {
      const rows = await ask('Deposits that a reorganisation took away', { since })
      return rows.map(({ to_address, value }) => `${to_address} ${value}`).sort()
    }
    const text = (address: Address): string => view.addressText(address)
    expect(await lost()).toEqual([`${text(one)} ${FIL}`, `${text(one)} ${7n * FIL}`].sort())
    const cid = String(signedMessageCid(known))
    await sql`update petrel.transfers x set value = value + 1 from petrel.tipsets t
      where t.tipset = x.tipset and not t.canonical and x.message = ${cid}`
    expect(await lost()).toContain(`${customer(0)} ${9n * FIL + 1n}`)
  })

  /** The owner of the multisig proposes to send a FIL to itself. @param to - an address of the multisig */
  async function propose(to: Address, method: bigint): Promise<void> {
    const { node } = exchange
    const [, owner] = node.plan.accounts
    const tree = node.view.stateTree((await node.vm.tipsetState(node.store.head())).stateRoot)
    const nonce = tree.getActor(tree.lookupId(owner!.address)!)!.nonce
    const params = encode(proposeParams, { to: owner!.address, value: FIL, method, params: new Uint8Array(0) })
    node.pending.push(signedBy(owner!, { to, value: 0n, nonce, method: 2n, params }))
    await node.devnet.mine()
    node.pending.length = 0
    await node.devnet.mine()
    const writer = writerOf(node, server.url())
    writer.start(neverFinal(node))
    await caughtUp(writer)
    await writer.stop()
  }

  test('a proposal that was sent to the ID of the multisig is one of its proposals', async () => {
    const before = await ask('Proposals of a multisig', { address: robust() })
    const { store, view } = exchange.node
    await propose(idAddress(view.stateBefore(store.head()).lookupId(exchange.multisig.robust)!), 0n)
    const after = await ask('Proposals of a multisig', { address: robust() })
    expect(after.slice(0, -1)).toEqual(before)
    expect(after.at(-1)).toMatchObject({ recipient: account(1), value: String(FIL), transaction: before.length })
  })

  test('an address by its ID, and by the 20 bytes of Ethereum', async () => {
    const { store, view } = exchange.node
    const [known] = exchange.customers
    const id = view.stateBefore(store.head()).lookupId(known!)!
    expect(await ask('Address of an ID', { id: String(id) })).toEqual([{ address: customer(0) }])
    // FIP-0055: 0xff, eleven zeros and the ID in eight bytes.
    const eth = `ff${'00'.repeat(11)}${id.toString(16).padStart(16, '0')}`
    expect(await ask('Address of `0x…`', { eth })).toEqual([{ address: customer(0) }])
  })

  test('a proposal whose send failed was not applied', async () => {
    // An account has no such method.
    await propose(exchange.multisig.robust, 99n)
    const proposals = await ask('Proposals of a multisig', { address: robust() })
    expect(proposals.at(-1)).toMatchObject({ recipient: account(1), applied: false })
    const [row] = await sql`select returned_json from canonical.messages where cid = ${String(proposals.at(-1)?.cid)}`
    expect(row?.returned_json).toMatchObject({ Applied: true, Code: 22 })
  })

  test('every question was asked', () => {
    // Asked of contracts in contracts.slow.test.ts and recorded.slow.test.ts.
    asked.add('Transfers of a token')
    expect([...questions().keys()].sort()).toEqual([...asked].sort())
    expect(asked.size).toBeGreaterThanOrEqual(10)
  })
})
