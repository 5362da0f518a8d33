/**
 * What a hardhat project asks of a node to deploy a contract, call it and verify its code: hardhat itself is too heavy
 * for a test, its questions are not: those below are what hardhat 3.18 with hardhat-ethers asked while it deployed this contract on a
 * local chain, in its order.
 */
import { Interface, Wallet } from 'ethers'
import { LEDGER_ABI, LEDGER_CODE } from '../../examples/ethereum/ledger.ts'
import { CHAIN_ID, FIL, type FlowDeps, holds, same } from './flow.ts'

interface Receipt {
  readonly status: string
  readonly contractAddress: string
  readonly blockNumber: string
}

export async function hardhatFlow(url: string, { fund, step }: FlowDeps): Promise<void> {
  let id = 0
  const ask = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
    if (error !== undefined) throw new RangeError(`${method}: ${error.message}`)
    return result
  }
  const wallet = new Wallet(Wallet.createRandom().privateKey)
  await fund(wallet.address, 10n * FIL)

  step('estimate')
  await ask('eth_getBalance', wallet.address, 'latest')
  const block = await ask<{ baseFeePerGas: string; gasLimit: string }>('eth_getBlockByNumber', 'latest', false)
  const from = { from: wallet.address }
  const gasLimit = await ask<string>('eth_estimateGas', { ...from, data: LEDGER_CODE })
  holds(BigInt(gasLimit) < BigInt(block.gasLimit), 'the estimate is below the limit of a block')
  const history = await ask<{ reward: string[][] }>('eth_feeHistory', '0x1', 'latest', [50])
  const tip = BigInt(history.reward[0]?.[0] ?? '0x0')

  step('send')
  const nonce = Number(await ask<string>('eth_getTransactionCount', wallet.address, 'pending'))
  same(BigInt(await ask<string>('eth_chainId')), CHAIN_ID, 'chain ID')
  const raw = await wallet.signTransaction({
    chainId: CHAIN_ID,
    type: 2,
    nonce,
    data: LEDGER_CODE,
    gasLimit,
    maxPriorityFeePerGas: tip,
    maxFeePerGas: BigInt(block.baseFeePerGas) * 2n + tip,
  })
  const hash = await ask<string>('eth_sendRawTransaction', raw)
  same((await ask<{ hash: string; blockNumber: unknown }>('eth_getTransactionByHash', hash)).hash, hash, 'transaction')

  step('receipt')
  const receipt = await polled(() => ask<Receipt | null>('eth_getTransactionReceipt', hash))
  same(receipt.status, '0x1', 'status')
  holds(BigInt(await ask<string>('eth_blockNumber')) >= BigInt(receipt.blockNumber), 'the block is below the head')

  step('verify the code')
  const code = await ask<string>('eth_getCode', receipt.contractAddress, 'latest')
  holds(code.length > 2 && LEDGER_CODE.includes(code.slice(2)), 'the code is the one that was sent')
  const data = new Interface([...LEDGER_ABI]).encodeFunctionData('balance', [wallet.address])
  const balance = await ask<string>('eth_call', { to: receipt.contractAddress, data, ...from }, 'latest')
  same(BigInt(balance), 10_000n, 'balance')
}

/** Asks every fifth of a second, as hardhat does every four seconds. */
async function polled<T>(question: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const answer = await question()
    if (answer !== null) return answer
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
