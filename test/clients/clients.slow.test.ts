/** Ethereum's client libraries against a local chain: in Node, in Deno, and in Chromium over the tab's EIP-1193 provider. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { blake2b } from '@noble/hashes/blake2.js'
import { build } from 'esbuild'
import { CID } from 'multiformats/cid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LEDGER_CODE } from '../../examples/ethereum/ledger.ts'
import { openChromium } from '../runtimes/chromiumHost.ts'
import type { NodeProcess } from '../runtimes/nodeProcess.ts'
import { findChromium } from '../support/chromium.ts'
import { denoPath } from '../support/deno.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { ROOT } from '../support/shared.ts'
import { failure } from './flow.ts'
import { DEVNET_BUNDLE, noContracts, startChain } from './localChain.ts'
import { FLOWS } from './overHttp.ts'

const run = promisify(execFile)
const LIBRARIES = ['ethers', 'viem', 'web3'] as const

describe.skipIf(noContracts !== undefined)(
  `clients of contracts${noContracts === undefined ? '' : `: ${noContracts}`}`,
  () => {
    let chain: NodeProcess

    beforeAll(async () => {
      chain = await startChain('wasm')
    })
    afterAll(async () => {
      await chain.stop()
    })

    it.for([...LIBRARIES, 'hardhat'])('%s in Node', async (name) => {
      const steps: string[] = []
      try {
        await FLOWS[name]?.(chain.url, chain.token, (step) => steps.push(step))
      } catch (error) {
        throw new Error(`after ${steps.join(', ')}: ${(error as Error).message}`, { cause: error })
      }
      expect(steps.length).toBeGreaterThan(2)
    })

    it('the code of an actor is an object of the chain', async () => {
      const node = new RpcClient(chain.url)
      const { Code: code } = await node.call('StateGetActor', 't00', [])
      expect(await node.call('ChainHasObj', code)).toBe(true)
      const module = Buffer.from(await node.call('ChainReadObj', code), 'base64')
      expect(module.subarray(0, 4).toString('latin1')).toBe('\0asm')
      // The CID ends with the BLAKE2b-256 of what it names.
      const digest = CID.parse(code['/']).multihash.digest
      expect(Buffer.from(blake2b(module, { dkLen: 32 }))).toEqual(Buffer.from(digest))
      expect(await node.call('ChainStatObj', code, null)).toEqual({ Size: module.length, Links: 1 })
    })

    it('all of them in Deno', async () => {
      const args = ['run', '-A', join(ROOT, 'test/clients/main.ts'), chain.url, chain.token, ...LIBRARIES]
      const { stdout } = await run(denoPath(), args, { cwd: ROOT })
      expect(stdout).toMatch(/\ndone\n$/)
    })

    it('ethers and viem in a tab, through its provider', async ({ skip }) => {
      skip(findChromium() === undefined, 'no Chromium here')
      const chromium = await openChromium()
      try {
        await build({
          entryPoints: { flows: join(ROOT, 'test/clients/page.ts') },
          outdir: chromium.folder,
          bundle: true,
          format: 'esm',
          platform: 'browser',
          logLevel: 'warning',
        })
        const page = await chromium.openPage(await chromium.browser.newContext())
        const devnet = { blockTimeMs: 1000, instant: true }
        const options = { node: { kind: 'local', devnet, bundles: [`/actors/${DEVNET_BUNDLE}.car`] } }
        await page.evaluate(`startTab(${JSON.stringify(options)})`)
        const steps = await page.evaluate<string[]>(`import('/flows.js').then(({ runFlows }) => runFlows(tab))`)
        expect(steps.at(-1)).toBe('done')
      } finally {
        await chromium.close()
      }
    })
  },
)

describe('a local chain without contracts', () => {
  it('says what is missing', async () => {
    const chain = await startChain('native')
    try {
      const node = new RpcClient(chain.url, chain.token)
      const from: string = await node.call('WalletDefaultAddress')
      const funds = { OffChain: false }
      const refused = 'is not native: the local chain needs --actors wasm (petrel actors fetch devnet gets the bundle)'
      const to: string = await node.call('WalletNew', 'bls')
      for (const [method, ...params] of [
        ['EthEstimateGas', { data: LEDGER_CODE }],
        ['PaychGet', from, to, '1', funds],
        ['MarketAddBalance', from, from, '1'],
      ] as const) {
        expect(await failure(node.call(method, ...params))).toMatchObject({
          code: 1,
          message: expect.stringContaining(refused),
        })
      }
      // Nothing was sent, and no nonce is used up.
      expect(await node.call('MpoolPending', [])).toEqual([])
      expect(await node.call('MpoolGetNonce', from)).toBe(0)
    } finally {
      await chain.stop()
    }
  })
})
