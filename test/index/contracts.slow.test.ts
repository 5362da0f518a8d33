/** What docs/sql.md asks about contracts, on a local chain with an ERC-20 that others wrote. */
import type { Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CarStore } from '../../src/archive/carStore.ts'
import { concatBytes, fromHex, toHex, utf8 } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { bytes, decode, encode } from '../../src/codec/description.ts'
import { keccak256 } from '../../src/crypto/hashes.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { eamReturn } from '../../src/state/params/eam.ts'
import { ethAddressToAddress, maskedIdAddress } from '../../src/types/ethAddress.ts'
import { EamMethod, EvmMethod } from '../../src/types/methodNumbers.ts'
import { type SignedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { EAM_ADDRESS } from '../../src/types/singletons.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { DEVNET_BUNDLE, noContracts } from '../clients/localChain.ts'
import { readBundle } from '../support/actors.ts'
import { type DevnetNode, devnetNode, receiptsOf, signedBy } from '../support/devnetNode.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { caughtUp, connect } from './indexed.ts'
import { askQuestion } from './questions.ts'
import { neverFinal, writerOf } from './writers.ts'

const missing = missingPostgres() ?? noContracts
if (missing !== undefined) console.log(`skipped: ${missing}`)

const SUPPLY = 1_000_000n
/**
 * `contract Coin is ERC20 { constructor() ERC20("Coin", "COIN") { _mint(msg.sender, 1_000_000); } }` over OpenZeppelin's ERC20 5.7.0
 * (solc 0.8.30 for Shanghai, 200 runs, no metadata).
 */
const COIN =
  '608060405234801561000f575f5ffd5b506040518060400160405280600481526020016321b7b4b760e11b8152506040518060400160405280600481526020016321a7a4a760e11b8152508160039081610059919061027c565b506004610066828261027c565b50505061007c33620f424061008160201b60201c565b61035b565b6001600160a01b0382166100af5760405163ec442f0560e01b81525f60048201526024015b60405180910390fd5b6100ba5f83836100be565b5050565b6001600160a01b0383166100e8578060025f8282546100dd9190610336565b909155506101589050565b6001600160a01b0383165f908152602081905260409020548181101561013a5760405163391434e360e21b81526001600160a01b038516600482015260248101829052604481018390526064016100a6565b6001600160a01b0384165f9081526020819052604090209082900390555b6001600160a01b03821661017457600280548290039055610192565b6001600160a01b0382165f9081526020819052604090208054820190555b816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef836040516101d791815260200190565b60405180910390a3505050565b634e487b7160e01b5f52604160045260245ffd5b600181811c9082168061020c57607f821691505b60208210810361022a57634e487b7160e01b5f52602260045260245ffd5b50919050565b601f82111561027757805f5260205f20601f840160051c810160208510156102555750805b601f840160051c820191505b81811015610274575f8155600101610261565b50505b505050565b81516001600160401b03811115610295576102956101e4565b6102a9816102a384546101f8565b84610230565b6020601f8211600181146102db575f83156102c45750848201515b5f19600385901b1c1916600184901b178455610274565b5f84815260208120601f198516915b8281101561030a57878501518255602094850194600190920191016102ea565b508482101561032757868401515f19600387901b60f8161c191681555b50505050600190811b01905550565b8082018082111561035557634e487b7160e01b5f52601160045260245ffd5b92915050565b6106c4806103685f395ff3fe608060405234801561000f575f5ffd5b5060043610610090575f3560e01c8063313ce56711610063578063313ce567146100fa57806370a082311461010957806395d89b4114610131578063a9059cbb14610139578063dd62ed3e1461014c575f5ffd5b806306fdde0314610094578063095ea7b3146100b257806318160ddd146100d557806323b872dd146100e7575b5f5ffd5b61009c610184565b6040516100a99190610554565b60405180910390f35b6100c56100c03660046105ba565b610214565b60405190151581526020016100a9565b6002545b6040519081526020016100a9565b6100c56100f53660046105e2565b61022d565b604051601281526020016100a9565b6100d961011736600461061c565b6001600160a01b03165f9081526020819052604090205490565b61009c610250565b6100c56101473660046105ba565b61025f565b6100d961015a36600461063c565b6001600160a01b039182165f90815260016020908152604080832093909416825291909152205490565b6060600380546101939061066d565b80601f01602080910402602001604051908101604052809291908181526020018280546101bf9061066d565b801561020a5780601f106101e15761010080835404028352916020019161020a565b820191905f5260205f20905b8154815290600101906020018083116101ed57829003601f168201915b5050505050905090565b5f3361022181858561026c565b60019150505b92915050565b5f3361023a85828561027e565b6102458585856102ff565b506001949350505050565b6060600480546101939061066d565b5f336102218185856102ff565b610279838383600161035c565b505050565b6001600160a01b038381165f908152600160209081526040808320938616835292905220545f198110156102f957818110156102eb57604051637dc7a0d960e11b81526001600160a01b038416600482015260248101829052604481018390526064015b60405180910390fd5b6102f984848484035f61035c565b50505050565b6001600160a01b03831661032857604051634b637e8f60e11b81525f60048201526024016102e2565b6001600160a01b0382166103515760405163ec442f0560e01b81525f60048201526024016102e2565b61027983838361042e565b6001600160a01b0384166103855760405163e602df0560e01b81525f60048201526024016102e2565b6001600160a01b0383166103ae57604051634a1406b160e11b81525f60048201526024016102e2565b6001600160a01b038085165f90815260016020908152604080832093871683529290522082905580156102f957826001600160a01b0316846001600160a01b03167f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b9258460405161042091815260200190565b60405180910390a350505050565b6001600160a01b038316610458578060025f82825461044d91906106a5565b909155506104c89050565b6001600160a01b0383165f90815260208190526040902054818110156104aa5760405163391434e360e21b81526001600160a01b038516600482015260248101829052604481018390526064016102e2565b6001600160a01b0384165f9081526020819052604090209082900390555b6001600160a01b0382166104e457600280548290039055610502565b6001600160a01b0382165f9081526020819052604090208054820190555b816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef8360405161054791815260200190565b60405180910390a3505050565b602081525f82518060208401525f5b818110156105805760208186018101516040868401015201610563565b505f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b03811681146105b5575f5ffd5b919050565b5f5f604083850312156105cb575f5ffd5b6105d48361059f565b946020939093013593505050565b5f5f5f606084860312156105f4575f5ffd5b6105fd8461059f565b925061060b6020850161059f565b929592945050506040919091013590565b5f6020828403121561062c575f5ffd5b6106358261059f565b9392505050565b5f5f6040838503121561064d575f5ffd5b6106568361059f565b91506106646020840161059f565b90509250929050565b600181811c9082168061068157607f821691505b60208210810361069f57634e487b7160e01b5f52602260045260245ffd5b50919050565b8082018082111561022757634e487b7160e01b5f52601160045260245ffd'
const TRANSFERS = 'Transfers of a token'

describe.skipIf(missing !== undefined)('contracts', () => {
  let server: TestPostgres
  let node: DevnetNode
  let sql: Sql
  const nonces = new Map<FundedAccount, bigint>()

  /** A message that makes or calls a contract. */
  function calling(account: FundedAccount, to: Uint8Array | undefined, input: Uint8Array): SignedMessage {
    const nonce = nonces.get(account) ?? 0n
    nonces.set(account, nonce + 1n)
    const target =
      to === undefined
        ? { to: EAM_ADDRESS, method: EamMethod.CreateExternal }
        : { to: ethAddressToAddress(to), method: EvmMethod.InvokeContract }
    return signedBy(account, { ...target, value: 0n, nonce, gasLimit: 1_000_000_000n, params: encode(bytes, input) })
  }

  async function mine(...messages: SignedMessage[]): Promise<Tipset> {
    node.pending.push(...messages)
    const tipset = await node.devnet.mine()
    node.pending.length = 0
    return tipset
  }

  const word = (value: Uint8Array | bigint): Uint8Array =>
    fromHex((typeof value === 'bigint' ? value.toString(16) : toHex(value)).padStart(64, '0'))
  const input = (signature: string, ...words: (Uint8Array | bigint)[]): Uint8Array =>
    concatBytes(keccak256(utf8(signature)).subarray(0, 4), ...words.map(word))

  beforeAll(async () => {
    await initCrypto()
    server = await TestPostgres.start()
    const bundles = new CarStore(memorySource(readBundle(DEVNET_BUNDLE)), { verify: 'never' })
    node = devnetNode({ networkName: 'contracts-test', bundles })
  }, 60_000)
  afterAll(async () => {
    await sql?.end()
    await server?.end()
  })

  test('transfers of a token: of the one asked for, to whom, from whom, how much', { timeout: 120_000 }, async () => {
    const accounts = node.plan.accounts.filter(({ kind }) => kind === 'secp256k1')
    const [bank, spender] = accounts as [FundedAccount, FundedAccount]
    const tree = node.view.stateTree((await node.vm.tipsetState(node.store.head())).stateRoot)
    const ofBank = maskedIdAddress(tree.lookupId(bank.address) ?? 0n)
    const ofSpender = maskedIdAddress(tree.lookupId(spender.address) ?? 0n)
    const [customer, other] = [new Uint8Array(20).fill(0x11), new Uint8Array(20).fill(0x22)]
    const makers = [calling(bank, undefined, fromHex(COIN)), calling(spender, undefined, fromHex(COIN))]
    const made = await mine(...makers)
    const [coin, twin] = (await receiptsOf(node, made)).map(({ return: out }) => decode(eamReturn, out).ethAddress)
    if (coin === undefined || twin === undefined) throw new Error('no contract was made')
    const paid = calling(bank, coin, input('transfer(address,uint256)', customer, 1000n))
    const first = await mine(
      paid,
      calling(bank, coin, input('transfer(address,uint256)', other, 5n)),
      calling(bank, coin, input('transfer(address,uint256)', customer, SUPPLY)),
      calling(bank, coin, input('approve(address,uint256)', ofSpender, 300n)),
      // Another token to the same.
      calling(spender, twin, input('transfer(address,uint256)', customer, 7n)),
    )
    const drawn = calling(spender, coin, input('transferFrom(address,address,uint256)', ofBank, customer, 250n))
    const second = await mine(
      drawn,
      calling(spender, coin, input('transferFrom(address,address,uint256)', ofBank, customer, 51n)),
    )
    await mine()
    // ERC20InsufficientBalance, ERC20InsufficientAllowance: the EVM actor's own code of a revert.
    const codes = async (tipset: Tipset): Promise<number[]> =>
      (await receiptsOf(node, tipset)).map(({ exitCode }) => exitCode)
    expect(await codes(first)).toEqual([0, 0, 33, 0, 0])
    expect(await codes(second)).toEqual([0, 33])

    const writer = writerOf(node, server.url())
    writer.start(neverFinal(node))
    await caughtUp(writer, 60_000)
    await writer.stop()
    sql = connect(server.url())
    const ask = async (contract: Uint8Array, recipient: Uint8Array, since = 0): Promise<unknown[]> => {
      const variables = { contract: toHex(contract), recipient: toHex(recipient), since }
      const rows = await askQuestion(sql, TRANSFERS, variables)
      return rows.map(({ height, time, transaction, sender, amount }) => {
        const at = (time as Date).getTime() / 1000
        return [Number(height), at, transaction, sender, BigInt(amount as string)]
      })
    }
    const row = (tipset: Tipset, message: SignedMessage, sender: Uint8Array, amount: bigint): unknown[] => {
      const hash = `0x${toHex(signedMessageCid(message).digest)}`
      return [tipset.height, tipset.blocks[0]?.timestamp, hash, `0x${toHex(sender)}`, amount]
    }
    const transfers = [row(first, paid, ofBank, 1000n), row(second, drawn, ofBank, 250n)]
    expect(await ask(coin, customer)).toEqual(transfers)
    expect(await ask(coin, customer, second.height)).toEqual(transfers.slice(1))
    expect((await ask(coin, other)).map((one) => (one as unknown[])[4])).toEqual([5n])
    expect((await ask(twin, customer)).map((one) => (one as unknown[])[4])).toEqual([7n])
    expect(await ask(coin, ofBank)).toEqual([row(made, makers[0] as SignedMessage, new Uint8Array(20), SUPPLY)])
    expect(await ask(coin, ofSpender)).toEqual([])
  })
})
