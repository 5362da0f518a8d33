/** Deploys the ledger with ethers, pays, reads the event: `node examples/ethereum/ethers.ts [home]`. */
import { Contract, ContractFactory, type ContractMethod, JsonRpcProvider, Wallet } from 'ethers'
import { localAccount } from './account.ts'
import { LEDGER_ABI, LEDGER_CODE } from './ledger.ts'

const { url, key } = await localAccount(process.argv[2])
const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 500 })
const wallet = new Wallet(key, provider)
const deployed = await new ContractFactory([...LEDGER_ABI], LEDGER_CODE, wallet).deploy()
await deployed.waitForDeployment()
const ledger = new Contract(await deployed.getAddress(), [...LEDGER_ABI], wallet) as Contract & {
  pay: ContractMethod
  balance: ContractMethod
}
console.log(`ledger at ${await ledger.getAddress()}`)

const shop = Wallet.createRandom().address
const payment = (await ledger.pay(shop, 25n)) as Awaited<ReturnType<typeof wallet.sendTransaction>>
const receipt = await payment.wait()
const [paid] = await ledger.queryFilter('Paid', receipt?.blockNumber, receipt?.blockNumber)
console.log(`paid in block ${receipt?.blockNumber}, ${receipt?.gasUsed} gas, event ${paid?.transactionHash}`)
console.log(`the shop has ${await ledger.balance(shop)}`)
provider.destroy()
