/** What people do with web3.js 4. */
import { Web3 } from 'web3'
import { LEDGER_CODE } from '../../examples/ethereum/ledger.ts'
import { FAILS_CODE } from './contracts.ts'
import { CHAIN_ID, FIL, type FlowDeps, failure, first, holds, same } from './flow.ts'

const ADDRESS = { type: 'address' } as const
const UINT = { type: 'uint256' } as const
/** web3.js takes no signatures in words. */
const LEDGER = [
  {
    type: 'event',
    name: 'Paid',
    inputs: [
      { ...ADDRESS, name: 'from', indexed: true },
      { ...ADDRESS, name: 'to', indexed: true },
      { ...UINT, name: 'amount', indexed: false },
    ],
  },
  { type: 'function', name: 'balance', stateMutability: 'view', inputs: [{ ...ADDRESS, name: 'of' }], outputs: [UINT] },
  {
    type: 'function',
    name: 'pay',
    stateMutability: 'nonpayable',
    inputs: [
      { ...ADDRESS, name: 'to' },
      { ...UINT, name: 'amount' },
    ],
    outputs: [{ type: 'bool' }],
  },
] as const
const FAILS = [{ type: 'function', name: 'reason', stateMutability: 'pure', inputs: [], outputs: [] }] as const

/** What web3.js makes of the ledger's functions: its own types leave open whether they exist. */
interface LedgerMethods {
  balance(of: string): { call(): Promise<bigint> }
  pay(
    to: string,
    amount: bigint,
  ): {
    estimateGas(from: object): Promise<bigint>
    send(
      from: object,
    ): Promise<{ readonly events?: Record<string, { readonly returnValues: Record<string, unknown> }> }>
  }
}

/** @param socketUrl - address with subscriptions; undefined: none */
export async function web3Flow(url: string, { fund, step }: FlowDeps, socketUrl?: string): Promise<void> {
  step('head')
  const web3 = new Web3(url)
  web3.eth.transactionPollingInterval = 200
  web3.eth.transactionReceiptPollingInterval = 200
  same(await web3.eth.getChainId(), CHAIN_ID, 'chain ID')
  const block = await web3.eth.getBlock('latest')
  same((await web3.eth.getBlock(block.hash as string)).number, block.number, 'block by hash')
  same(await web3.eth.net.isListening(), true, 'listening')
  holds((await web3.eth.getNodeInfo()).startsWith('Petrel/'), 'client version')

  step('deposit to 0x')
  const account = web3.eth.accounts.create()
  web3.eth.accounts.wallet.add(account)
  const other = web3.eth.accounts.create().address
  await fund(account.address, 100n * FIL)
  same(await web3.eth.getBalance(account.address), 100n * FIL, 'balance')

  step('sign offline and send')
  const signed = await account.signTransaction({
    to: other,
    value: FIL.toString(),
    gas: await web3.eth.estimateGas({ from: account.address, to: other, value: FIL.toString() }),
    gasPrice: ((await web3.eth.getGasPrice()) * 2n).toString(),
    nonce: await web3.eth.getTransactionCount(account.address, 'pending'),
    chainId: CHAIN_ID,
  })
  const sent = await web3.eth.sendSignedTransaction(signed.rawTransaction)
  same(sent.status, 1n, 'status')
  same(await web3.eth.getBalance(other), FIL, 'balance of the recipient')

  step('deploy')
  const from = { from: account.address }
  const ledger = await new web3.eth.Contract(LEDGER).deploy({ data: LEDGER_CODE }).send(from)
  const address = ledger.options.address as string
  const methods = ledger.methods as unknown as LedgerMethods

  step('call, estimate, send, read the receipt')
  same(await methods.balance(account.address).call(), 10_000n, 'balance of the ledger')
  holds((await methods.pay(other, 7n).estimateGas(from)) > 100_000n, 'gas of pay')
  const paid = await methods.pay(other, 7n).send(from)
  same(paid.events?.Paid?.returnValues.amount, 7n, 'event of the receipt')
  same(await methods.balance(other).call(), 7n, 'balance of the payee')

  step('logs')
  const past = await ledger.getPastEvents('Paid', { fromBlock: 0 })
  same(past.length, 1, 'events')

  step('failures')
  const fails = await new web3.eth.Contract(FAILS).deploy({ data: FAILS_CODE }).send(from)
  const error = (await failure(fails.methods.reason().call())) as { cause?: { message: string } }
  holds(
    JSON.stringify(error, Object.getOwnPropertyNames(error)).includes('out of petrels'),
    `reason: ${error.cause?.message}`,
  )

  step('many at once')
  const batch = new web3.BatchRequest()
  const head = batch.add({ jsonrpc: '2.0', method: 'eth_blockNumber', params: [] })
  const balance = batch.add({ jsonrpc: '2.0', method: 'eth_getBalance', params: [other, 'latest'] })
  await batch.execute()
  holds(BigInt((await head) as string) > 0n, 'head of a batch')
  same(BigInt((await balance) as string), FIL, 'balance of a batch')

  if (socketUrl === undefined) return
  step('subscriptions')
  const live = new Web3(socketUrl)
  const heads = await live.eth.subscribe('newBlockHeaders')
  const blocks = first<unknown>((resolve) => heads.on('data', resolve))
  const logs = await live.eth.subscribe('logs', { address })
  const heard = first<{ readonly data?: unknown }>((resolve) => logs.on('data', (one) => resolve(one as object)))
  await methods.pay(other, 9n).send(from)
  same(BigInt((await heard).data as string), 9n, 'event')
  await blocks
  live.provider?.disconnect()
}
