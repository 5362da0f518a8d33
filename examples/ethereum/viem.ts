/** Deploys the ledger with viem, pays, reads the event: `node examples/ethereum/viem.ts [home]`. */
import { createPublicClient, createWalletClient, defineChain, type Hex, http, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { localAccount } from './account.ts'
import { LEDGER_ABI, LEDGER_CODE } from './ledger.ts'

const { url, key } = await localAccount(process.argv[2])
const chain = defineChain({
  id: 31_415_926,
  name: 'local chain',
  nativeCurrency: { name: 'FIL', symbol: 'FIL', decimals: 18 },
  rpcUrls: { default: { http: [url] } },
})
const transport = http(url)
const client = createPublicClient({ chain, transport, pollingInterval: 500 })
const wallet = createWalletClient({ account: privateKeyToAccount(key), chain, transport })
const abi = parseAbi(LEDGER_ABI)
const deployment = await wallet.deployContract({ abi, bytecode: LEDGER_CODE as Hex })
const { contractAddress } = await client.waitForTransactionReceipt({ hash: deployment })
const ledger = { address: contractAddress as Hex, abi } as const
console.log(`ledger at ${ledger.address}`)

const shop = privateKeyToAccount(generatePrivateKey()).address
const payment = await wallet.writeContract({ ...ledger, functionName: 'pay', args: [shop, 25n] })
const { blockNumber, gasUsed } = await client.waitForTransactionReceipt({ hash: payment })
const [paid] = await client.getContractEvents({
  ...ledger,
  eventName: 'Paid',
  fromBlock: blockNumber,
  toBlock: blockNumber,
})
console.log(`paid in block ${blockNumber}, ${gasUsed} gas, event ${paid?.transactionHash}`)
console.log(`the shop has ${await client.readContract({ ...ledger, functionName: 'balance', args: [shop] })}`)
