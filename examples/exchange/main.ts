/** Plays an exchange from end to end on a local chain. Ends with code 0 when everything is as it should be. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Books } from './books.ts'
import { Exchange } from './exchange.ts'
import { startLocalNode } from './localNode.ts'
import { Multisig, send } from './multisig.ts'
import type { Answer } from './rpc.ts'

const FIL = 10n ** 18n
const folder = mkdtempSync(join(tmpdir(), 'petrel-exchange-'))
const home = join(folder, 'node')
const booksFile = join(folder, 'books.json')

let node = await startLocalNode(home)
let books = new Books(booksFile)
let exchange = new Exchange((...call) => node.rpc(...call), books)
const rpc = (method: string, ...params: unknown[]): Promise<Answer> => node.rpc(method, ...params)
const mine = async (count: number, fork = 0): Promise<void> => {
  await rpc('DevnetMine', count, { NullRounds: 0, Fork: fork })
}
const say = (text: string): void => console.log(text)
const show = (user: string): string => `${user} ${Number(books.balance(user)) / 1e18} FIL`

try {
  await mine(2)
  const [rich, second] = (await rpc('DevnetAccounts')).map((account: Answer) => account.Address)
  const settle = (): Promise<void> => mine(2)

  say('# The exchange opens')
  const hot = await exchange.open()
  await send(rpc, settle, rich, hot, 1000n * FIL)
  const alice = await exchange.depositAddress('alice')
  const bob = await exchange.depositAddress('bob')
  say(`hot wallet ${hot}, deposit addresses: alice ${alice}, bob ${bob}`)

  say('# A plain deposit counts after confirmations')
  await send(rpc, settle, rich, alice, 5n * FIL)
  assert.deepEqual(await exchange.readDeposits(), [])
  await mine(5)
  for (const line of await exchange.readDeposits()) say(line)
  assert.equal(books.balance('alice'), 5n * FIL)

  say('# A deposit out of a multisig is an internal send')
  const signers = [rich, second]
  const multisig = await Multisig.create(rpc, settle, signers, 20n * FIL)
  assert.equal(await multisig.pay(signers, bob, 7n * FIL), 0)
  // a method that accounts do not have: the approval succeeds, the send inside it fails and moves nothing
  assert.notEqual(await multisig.pay(signers, bob, 3n * FIL, 5), 0)
  await mine(5)
  for (const line of await exchange.readDeposits()) say(line)
  assert.equal(books.balance('bob'), 7n * FIL)

  say('# A reorganisation before confirmation changes nothing in the books')
  await send(rpc, settle, rich, alice, FIL)
  await mine(1, 3)
  assert.deepEqual(await exchange.readDeposits(), [])
  await mine(8)
  for (const line of await exchange.readDeposits()) say(line)
  assert.equal(books.balance('alice'), 6n * FIL)

  say('# Withdrawals')
  const outside = await rpc('WalletNew', 1)
  const ethereum = await rpc('WalletNew', 'delegated')
  await exchange.withdraw('alice', outside, 2n * FIL)
  await exchange.withdraw('bob', ethereum, FIL)
  await mine(8)
  await exchange.settle()
  assert.deepEqual(
    books.pages.withdrawals.map(({ state }) => state),
    ['done', 'done'],
  )
  assert.equal(await rpc('WalletBalance', outside), String(2n * FIL))
  assert.equal(await rpc('WalletBalance', ethereum), String(FIL))
  say(`${show('alice')}, ${show('bob')}`)

  say('# A stuck message is repaired')
  const stuck = await exchange.withdraw('alice', outside, FIL, {
    GasLimit: 2_000_000,
    GasFeeCap: '100',
    GasPremium: '100',
  })
  const behind = await exchange.withdraw('alice', outside, FIL)
  await mine(3)
  assert.equal((await rpc('MpoolPending', null)).length, 2, 'it holds up the next one')
  const original = stuck.cid
  for (const cid of await exchange.repairStuck()) say(`replaced ${original} by ${cid}`)
  await mine(8)
  await exchange.settle()
  assert.deepEqual([stuck.state, behind.state], ['done', 'done'])
  assert.equal(await rpc('WalletBalance', outside), String(4n * FIL))

  say('# A crash in the middle of a withdrawal pays once')
  const owed = exchange.want('bob', outside, 3n * FIL)
  // the node sends it, but the exchange dies before it writes that down; then the node dies too
  await rpc(
    'MpoolPushMessage',
    {
      Version: 0,
      Nonce: 0,
      From: hot,
      To: outside,
      Value: owed.value,
      GasLimit: 0,
      GasFeeCap: '0',
      GasPremium: '0',
      Method: 0,
      Params: null,
    },
    { MsgUuid: owed.id },
  )
  await node.kill()
  node = await startLocalNode(home)
  books = new Books(booksFile)
  exchange = new Exchange((...call) => node.rpc(...call), books)
  const resumed = await exchange.resume()
  assert.equal(resumed.length, 1)
  assert.equal((await rpc('MpoolPending', null)).length, 1, 'still one message')
  await mine(8)
  await exchange.settle()
  assert.equal(await rpc('WalletBalance', outside), String(7n * FIL))
  assert.equal(
    books.pages.withdrawals.every(({ state }) => state === 'done'),
    true,
  )
  assert.deepEqual(await exchange.readDeposits(), [])
  say(`${show('alice')}, ${show('bob')}`)

  say('# The books agree with the chain')
  const held = BigInt(await rpc('WalletBalance', alice)) + BigInt(await rpc('WalletBalance', bob))
  const paid = books.pages.withdrawals.reduce((sum, { value }) => sum + BigInt(value), 0n)
  assert.equal(held - paid, books.balance('alice') + books.balance('bob'))
  say('everything is as it should be')
} finally {
  await node.kill()
  rmSync(folder, { recursive: true, force: true })
}
