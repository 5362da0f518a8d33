/** What people do with viem 2. */
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  parseAbi,
  type TransactionSerializableEIP1559,
  type Transport,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { LEDGER_ABI, LEDGER_CODE } from '../../examples/ethereum/ledger.ts'
import { FAILS_ABI, FAILS_CODE } from './contracts.ts'
import { CHAIN_ID, FIL, type FlowDeps, failure, first, holds, same } from './flow.ts'

/** A local chain, as viem describes chains. */
const CHAIN = defineChain({
  id: Number(CHAIN_ID),
  name: 'Petrel',
  nativeCurrency: { name: 'FIL', symbol: 'FIL', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})
const POLL_MS = 200
const LEDGER = parseAbi(LEDGER_ABI)
const FAILS = parseAbi(FAILS_ABI)

/** @param socket - a transport with subscriptions; undefined where there is none */
export async function viemFlow(transport: Transport, { fund, step }: FlowDeps, socket?: Transport): Promise<void> {
  step('head')
  const client = createPublicClient({ chain: CHAIN, transport, pollingInterval: POLL_MS, cacheTime: 0 })
  same(await client.getChainId(), Number(CHAIN_ID), 'chain ID')
  const block = await client.getBlock()
  same((await client.getBlock({ blockHash: block.hash })).number, block.number, 'block by hash')

  step('deposit to 0x')
  const account = privateKeyToAccount(generatePrivateKey())
  const other = privateKeyToAccount(generatePrivateKey()).address
  await fund(account.address, 100n * FIL)
  same(await client.getBalance({ address: account.address }), 100n * FIL, 'balance')
  const wallet = createWalletClient({ account, chain: CHAIN, transport, pollingInterval: POLL_MS })

  step('sign offline and send')
  const request = await client.prepareTransactionRequest({ account, to: other, value: FIL, type: 'eip1559' })
  const raw = await account.signTransaction(request as TransactionSerializableEIP1559)
  const hash = await client.sendRawTransaction({ serializedTransaction: raw })
  const sent = await client.waitForTransactionReceipt({ hash })
  same(sent.status, 'success', 'status')
  same(await client.getBalance({ address: other }), FIL, 'balance of the recipient')
  same((await client.getTransaction({ hash })).blockNumber, sent.blockNumber, 'block of the transaction')
  const legacy = await wallet.sendTransaction({ to: other, value: FIL, type: 'legacy' })
  same((await client.waitForTransactionReceipt({ hash: legacy })).status, 'success', 'status of a legacy transaction')

  step('deploy')
  const deployment = await wallet.deployContract({ abi: LEDGER, bytecode: LEDGER_CODE as Hex })
  const deployed = await client.waitForTransactionReceipt({ hash: deployment })
  const address = deployed.contractAddress as Hex
  holds(LEDGER_CODE.endsWith(((await client.getCode({ address })) ?? '').slice(-100)), 'code of the contract')

  step('call, estimate, send, read the receipt')
  const ledger = { address, abi: LEDGER } as const
  const balanceOf = (of: Hex): Promise<bigint> =>
    client.readContract({ ...ledger, functionName: 'balance', args: [of] })
  same(await balanceOf(account.address), 10_000n, 'balance of the ledger')
  const simulated = await client.simulateContract({ ...ledger, account, functionName: 'pay', args: [other, 7n] })
  same(simulated.result, true, 'pay, only tried')
  const pay = async (amount: bigint): Promise<Hex> => {
    const paying = await wallet.writeContract({ ...ledger, functionName: 'pay', args: [other, amount] })
    same((await client.waitForTransactionReceipt({ hash: paying })).status, 'success', 'status of pay')
    return paying
  }
  const paid = await pay(7n)
  same(await balanceOf(other), 7n, 'balance of the payee')

  step('logs')
  const events = await client.getContractEvents({ ...ledger, eventName: 'Paid', fromBlock: 0n })
  same(
    events.map((one) => [one.args.amount, one.transactionHash]),
    [[7n, paid]],
    'events',
  )

  step('filters')
  const filter = await client.createContractEventFilter({ ...ledger, eventName: 'Paid', fromBlock: block.number })
  same((await client.getFilterLogs({ filter })).length, 1, 'logs that there were')
  const blocks = await client.createBlockFilter()
  const pending = await client.createPendingTransactionFilter()
  const second = await pay(8n)
  same(
    (await client.getFilterChanges({ filter })).map((one) => one.args.amount),
    [8n],
    'new logs',
  )
  holds((await client.getFilterChanges({ filter: blocks })).length > 0, 'new blocks')
  same(await client.getFilterChanges({ filter: pending }), [second], 'new transactions of the pool')
  same(await client.uninstallFilter({ filter }), true, 'uninstalled')

  step('failures')
  const made = await wallet.deployContract({ abi: FAILS, bytecode: FAILS_CODE as Hex })
  const { contractAddress } = await client.waitForTransactionReceipt({ hash: made })
  const fails = { address: contractAddress as Hex, abi: FAILS } as const
  const reverted = async (call: Promise<unknown>): Promise<ContractFunctionRevertedError> => {
    const error = await failure(call)
    const cause = error instanceof BaseError ? error.walk((one) => one instanceof ContractFunctionRevertedError) : null
    if (cause instanceof ContractFunctionRevertedError) return cause
    throw new RangeError(`expected a revert, got ${error.message}`)
  }
  const reason = await reverted(client.readContract({ ...fails, functionName: 'reason' }))
  same(reason.reason, 'out of petrels', 'reason')
  const custom = await reverted(client.readContract({ ...fails, functionName: 'custom' }))
  same([custom.data?.errorName, custom.data?.args], ['Custom', [7n, 'custom reason']], 'custom error')
  const estimated = await reverted(client.estimateContractGas({ ...fails, account, functionName: 'writeThenFail' }))
  same(estimated.reason, 'nothing stays', 'reason of the estimate')

  step('fees')
  const history = await client.getFeeHistory({ blockCount: 4, rewardPercentiles: [25, 75] })
  same(history.baseFeePerGas.length, 5, 'base fees')
  same(history.reward?.length, 4, 'rewards')

  step('new blocks')
  const before = await client.getBlockNumber()
  let unwatch = (): void => undefined
  const seen = await first<bigint>((resolve) => {
    unwatch = client.watchBlockNumber({ onBlockNumber: (number) => number > before && resolve(number) })
  })
  unwatch()
  holds(seen > before, 'a new block')

  if (socket === undefined) return
  step('subscriptions')
  const live = createPublicClient({ chain: CHAIN, transport: socket })
  let end = (): void => undefined
  const heard = first<bigint | undefined>((resolve) => {
    end = live.watchContractEvent({
      ...ledger,
      eventName: 'Paid',
      onLogs: ([one]) => resolve(one?.args.amount),
    })
  })
  await live.getBlockNumber()
  await pay(9n)
  same(await heard, 9n, 'event')
  end()
  const { getRpcClient } = live.transport as unknown as { getRpcClient(): Promise<{ close(): void }> }
  ;(await getRpcClient()).close()
}
