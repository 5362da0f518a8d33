/** What people do with ethers 6. */
import { Contract, ContractFactory, type JsonRpcApiProvider, Transaction, Wallet, type WebSocketProvider } from 'ethers'
import { LEDGER_ABI, LEDGER_CODE } from '../../examples/ethereum/ledger.ts'
import { FAILS_ABI, FAILS_CODE } from './contracts.ts'
import { CHAIN_ID, FIL, type FlowDeps, failure, first, holds, same } from './flow.ts'

/** @param socket - a provider with subscriptions; undefined where there is none */
export async function ethersFlow(
  provider: JsonRpcApiProvider,
  { fund, step }: FlowDeps,
  socket?: () => WebSocketProvider,
): Promise<void> {
  step('head')
  same((await provider.getNetwork()).chainId, CHAIN_ID, 'chain ID')
  const block = await provider.getBlock('latest')
  holds(block !== null && block.number <= (await provider.getBlockNumber()), 'the latest block is not above the head')
  same((await provider.getBlock(block?.hash as string))?.number, block?.number, 'block by hash')

  step('deposit to 0x')
  const wallet = Wallet.createRandom().connect(provider)
  const other = Wallet.createRandom().address
  same(await provider.getBalance(wallet.address), 0n, 'balance before')
  await fund(wallet.address, 100n * FIL)
  same(await provider.getBalance(wallet.address), 100n * FIL, 'balance after')

  step('sign offline and send: type 2')
  const fees = await provider.getFeeData()
  const to = { to: other, value: FIL }
  const gasLimit = await provider.estimateGas({ ...to, from: wallet.address })
  const typed = await new Wallet(wallet.privateKey).signTransaction({
    ...to,
    chainId: CHAIN_ID,
    type: 2,
    nonce: await provider.getTransactionCount(wallet.address),
    gasLimit,
    maxFeePerGas: fees.maxFeePerGas,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
  })
  const sent = await provider.broadcastTransaction(typed)
  same(sent.hash, Transaction.from(typed).hash, 'hash of the transaction')
  same(await provider.getTransactionCount(wallet.address, 'pending'), 1, 'nonce with the pool')
  const receipt = await sent.wait()
  same(receipt?.status, 1, 'status')
  same(await provider.getBalance(other), FIL, 'balance of the recipient')
  same((await provider.getTransaction(sent.hash))?.blockNumber, receipt?.blockNumber, 'block of the transaction')

  step('types 0: EIP-155 and before')
  for (const chainId of [CHAIN_ID, undefined]) {
    const plain = Transaction.from({
      ...to,
      type: 0,
      nonce: await provider.getTransactionCount(wallet.address),
      gasLimit,
      gasPrice: fees.gasPrice === null ? 0n : fees.gasPrice * 2n,
      ...(chainId === undefined ? {} : { chainId }),
    })
    plain.signature = new Wallet(wallet.privateKey).signingKey.sign(plain.unsignedHash)
    const one = await provider.broadcastTransaction(plain.serialized)
    same((await one.wait())?.status, 1, `status with chain ID ${chainId ?? 'none'}`)
  }
  same(await provider.getBalance(other), 3n * FIL, 'balance of the recipient after three')

  step('deploy')
  const factory = new ContractFactory([...LEDGER_ABI], LEDGER_CODE, wallet)
  const deployed = await factory.deploy()
  await deployed.waitForDeployment()
  const address = await deployed.getAddress()
  holds(LEDGER_CODE.endsWith((await provider.getCode(address)).slice(-100)), 'code of the contract')
  const ledger = new Contract(address, [...LEDGER_ABI], wallet)

  step('call, estimate, send, read the receipt')
  const call = ledger as unknown as Record<'balance' | 'pay', ReturnType<Contract['getFunction']>>
  same(await call.balance(wallet.address), 10_000n, 'balance of the ledger')
  same(await call.pay.staticCall(other, 7n), true, 'pay, only tried')
  holds((await call.pay.estimateGas(other, 7n)) > 100_000n, 'gas of pay')
  const paid = await (await call.pay(other, 7n)).wait()
  same(await call.balance(other), 7n, 'balance of the payee')
  const [log] = paid?.logs ?? []
  same(ledger.interface.parseLog(log as NonNullable<typeof log>)?.args.toArray(), [wallet.address, other, 7n], 'log')

  step('logs')
  const number = paid?.blockNumber as number
  const [found] = await ledger.queryFilter('Paid', number, number)
  same(found?.transactionHash, paid?.hash, 'log by range')
  const byHash = await provider.getLogs({ blockHash: paid?.blockHash as string, address })
  same(byHash.length, 1, 'logs by block hash')

  step('filters')
  const filter: unknown = await provider.send('eth_newFilter', [{ address, fromBlock: '0x0' }])
  const past = (await provider.send('eth_getFilterLogs', [filter])) as unknown[]
  same(past.length, 1, 'logs that there were')
  await (await call.pay(other, 8n)).wait()
  const changes = (await provider.send('eth_getFilterChanges', [filter])) as { transactionHash: string }[]
  same(changes.length, 1, 'new logs')
  same(await provider.send('eth_uninstallFilter', [filter]), true, 'uninstalled')
  const gone = await failure(provider.send('eth_getFilterChanges', [filter]))
  holds(JSON.stringify(gone).includes('filter not found') || gone.message.includes('filter not found'), gone.message)

  step('failures')
  const fails = await new ContractFactory([...FAILS_ABI], FAILS_CODE, wallet).deploy()
  await fails.waitForDeployment()
  const failing = fails as unknown as Record<'reason' | 'custom' | 'divided', ReturnType<Contract['getFunction']>>
  same(((await failure(failing.reason())) as { reason?: string }).reason, 'out of petrels', 'reason')
  const custom = (await failure(failing.custom())) as { revert?: { name: string; args: unknown[] } }
  same([custom.revert?.name, ...(custom.revert?.args ?? [])], ['Custom', 7n, 'custom reason'], 'custom error')
  const panic = (await failure(failing.divided(0n))) as { reason?: string }
  holds(panic.reason?.includes('DIVIDE_BY_ZERO') === true, `panic: ${panic.reason}`)
  const estimated = (await failure(failing.reason.estimateGas())) as { reason?: string }
  same(estimated.reason, 'out of petrels', 'reason of the estimate')

  step('many at once')
  const [head, balance, nonce] = await Promise.all([
    provider.getBlockNumber(),
    provider.getBalance(other),
    provider.getTransactionCount(wallet.address),
  ])
  holds(head > 0 && balance === 3n * FIL && nonce === 7, `answers of a batch: ${head}, ${balance}, ${nonce}`)

  if (socket === undefined) return
  step('subscriptions')
  const live = socket()
  const heard = first<string>((resolve) =>
    new Contract(address, [...LEDGER_ABI], live).on('Paid', (_from, _to, amount: bigint) => resolve(`${amount}`)),
  )
  const blocks = first<number>((resolve) => live.on('block', resolve))
  const pending = first<string>((resolve) => live.on('pending', resolve))
  // The subscriptions are there once this answers: they were asked for on the same connection before.
  await live.getBlockNumber()
  const last = await call.pay(other, 9n)
  same(await pending, last.hash, 'pending transaction')
  await last.wait()
  same(await heard, '9', 'event')
  holds((await blocks) > 0, 'block')
  await live.destroy()
}
