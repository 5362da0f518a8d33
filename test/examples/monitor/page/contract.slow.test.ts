/** What the sheets say of Ethereum's side of a chain: a contract, a transaction that it reverted. Against what ethers computes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ContractFactory, getCreateAddress, Interface, JsonRpcProvider, Wallet } from 'ethers'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPage } from '../../../../scripts/monitor/buildPage.ts'
import { type PageServer, servePage } from '../../../../scripts/monitor/servePage.ts'
import { FAILS_ABI, FAILS_CODE } from '../../../clients/contracts.ts'
import { FIL, INVOKE_EVM } from '../../../clients/flow.ts'
import { noContracts, startChain } from '../../../clients/localChain.ts'
import type { NodeProcess } from '../../../runtimes/nodeProcess.ts'
import { findChromium, launchChromium } from '../../../support/chromium.ts'
import { RpcClient } from '../../../support/rpcClient.ts'
import { axeViolations, overflow, until } from './support.ts'

const BODY = '#sheet-body'
const FAR_MS = 120_000

describe.skipIf(findChromium() === undefined || noContracts !== undefined)('sheets of contracts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-contract-'))
  let server: PageServer
  let chain: NodeProcess & { readonly home: string }
  let browser: Browser
  let provider: JsonRpcProvider
  let contract: string
  /** As it is in the state: what the constructor returned. */
  let bytecode: string
  let reverted: string

  beforeAll(async () => {
    await buildPage(folder)
    server = await servePage(folder, 0)
    chain = await startChain('wasm', ['--cors-origin', server.url])
    server.use(chain.url, chain.home)
    browser = await launchChromium()
    provider = new JsonRpcProvider(`${chain.url}/rpc/v1`, undefined, { pollingInterval: 200, cacheTimeout: -1 })
    const wallet = new Wallet(Wallet.createRandom().privateKey, provider)
    const node = new RpcClient(chain.url, chain.token)
    const To = await node.call('EthAddressToFilecoinAddress', wallet.address)
    const From = await node.call('WalletDefaultAddress')
    const { CID } = await node.call(
      'MpoolPushMessage',
      { To, From, Value: String(100n * FIL), Method: INVOKE_EVM },
      null,
    )
    await node.call('StateWaitMsg', CID, 0, -1, true)
    const made = await new ContractFactory([...FAILS_ABI], FAILS_CODE, wallet).deploy()
    await made.deploymentTransaction()?.wait()
    contract = getCreateAddress({ from: wallet.address, nonce: 0 }).toLowerCase()
    bytecode = await provider.getCode(contract)
    const data = new Interface([...FAILS_ABI]).encodeFunctionData('writeThenFail')
    const sent = await wallet.sendTransaction({ to: contract, data, gasLimit: 50_000_000n })
    await sent.wait().catch(() => undefined)
    reverted = sent.hash
  }, FAR_MS)

  afterAll(async () => {
    provider?.destroy()
    await browser?.close()
    await chain?.stop()
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function opened(width: number): Promise<Page> {
    const context = await browser.newContext({ viewport: { width, height: 900 } })
    const page = await context.newPage()
    await page.goto(server.url)
    await until(page, '#head-epoch', /^\d/)
    return page
  }

  async function look(page: Page, text: string): Promise<void> {
    await page.keyboard.press('/')
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
  }

  it.each([320, 1440])(
    'at %i px: a transaction that a contract reverted, by its 0x hash',
    { timeout: FAR_MS },
    async (width) => {
      const page = await opened(width)
      await look(page, reverted)
      await until(page, `${BODY} .bad`, /^33$/)
      // The words of the contract: test/clients/contracts.ts, writeThenFail.
      await until(page, `${BODY} .bad`, /nothing stays/)
      await until(page, `${BODY} .calls .bad`, /exit code 33/)
      expect(await overflow(page)).toEqual([0])
      expect(await axeViolations(page)).toEqual([])
      await page.context().close()
    },
  )

  it.each([320, 1440])('at %i px: a contract, by its 0x address', { timeout: FAR_MS }, async (width) => {
    const page = await opened(width)
    await look(page, contract)
    await until(page, BODY, /contract \(EVM\)/)
    await until(page, BODY, new RegExp(contract))
    const size = (bytecode.length - '0x'.length) / 2
    await until(page, BODY, new RegExp(`Bytecode\\s*${size} bytes`))
    expect(await overflow(page)).toEqual([0])
    expect(await axeViolations(page)).toEqual([])
    await page.context().close()
  })
})
