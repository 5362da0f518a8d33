/** The log of a local chain's blocks, against what ethers computes by itself. */
import { ContractFactory, getCreateAddress, Interface, JsonRpcProvider, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { FAILS_ABI, FAILS_CODE } from '../clients/contracts.ts'
import { FIL, INVOKE_EVM } from '../clients/flow.ts'
import { noContracts, startChain } from '../clients/localChain.ts'
import type { NodeProcess } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'

const TIMEOUT_MS = 120_000

describe.skipIf(noContracts !== undefined)(
  `the log of blocks${noContracts === undefined ? '' : `: ${noContracts}`}`,
  () => {
    let chain: NodeProcess
    let provider: JsonRpcProvider
    let wallet: Wallet
    beforeAll(async () => {
      chain = await startChain('wasm')
      provider = new JsonRpcProvider(`${chain.url}/rpc/v1`, undefined, { pollingInterval: 200, cacheTimeout: -1 })
      wallet = new Wallet(Wallet.createRandom().privateKey, provider)
      const node = new RpcClient(chain.url, chain.token)
      const To = await node.call('EthAddressToFilecoinAddress', wallet.address)
      const From = await node.call('WalletDefaultAddress')
      const message = { To, From, Value: String(100n * FIL), Method: INVOKE_EVM }
      const { CID } = await node.call('MpoolPushMessage', message, null)
      await node.call('StateWaitMsg', CID, 0, -1, true)
      const line = await lineWith(` cid=${CID['/']} `, 'transaction hash=')
      expect(line).toMatch(/INFO {2}devnet {2}transaction hash=0x[0-9a-f]{64} .* gasUsed=\d+ exitCode=Ok\(0\)$/)
    }, TIMEOUT_MS)
    afterAll(async () => {
      provider.destroy()
      await chain.stop()
    })

    /** The line may come after the answer. */
    const lineWith = (...texts: string[]): Promise<string> =>
      vi.waitFor(() => {
        const lines = chain.output().split('\n')
        const [line, other] = lines.filter((one) => texts.every((text) => one.includes(text)))
        expect([line, other]).toEqual([expect.any(String), undefined])
        return line as string
      })

    it('has hash, contract, gas and the block of a transaction', { timeout: TIMEOUT_MS }, async () => {
      const deployed = await new ContractFactory([...FAILS_ABI], FAILS_CODE, wallet).deploy()
      const sent = deployed.deploymentTransaction()
      const receipt = await sent?.wait()
      const line = await lineWith(`transaction hash=${sent?.hash} `)
      const address = getCreateAddress({ from: wallet.address, nonce: 0 }).toLowerCase()
      expect(line).toContain(` contractCreated=${address} gasUsed=${receipt?.gasUsed} exitCode=Ok(0)`)
      const block = await provider.getBlock(receipt?.blockNumber as number)
      const time = new Date((block?.timestamp as number) * 1000).toISOString()
      await lineWith(`block number=${block?.number} hash=${block?.hash} time=${time} transactions=`)
    })

    it('has why a transaction failed', { timeout: TIMEOUT_MS }, async () => {
      const to = getCreateAddress({ from: wallet.address, nonce: 0 })
      const data = new Interface([...FAILS_ABI]).encodeFunctionData('writeThenFail')
      const sent = await wallet.sendTransaction({ to, data, gasLimit: 50_000_000n })
      await expect(sent.wait()).rejects.toThrow(/execution reverted/)
      expect(await lineWith(`transaction hash=${sent.hash} `)).toMatch(
        /gasUsed=\d+ exitCode=33 revertReason="Error\(nothing stays\)"$/,
      )
    })
  },
)
