/**
 * A light tab and a light node on a network of mainnet's size: certificates behind the checkpoint, signers of each, accounts in the
 * state under the final tipset. From the start to the first proven balance, cold and warm, what a balance costs, memory.
 *
 *     node test/bench/light.bench.ts [--certificates 2000] [--signers 1500] [--accounts 1000000] [--runtime node|deno|package]
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { writeGenesisCar } from '../../src/chain/genesisCar.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { checkpointJson } from '../../src/light/checkpoint.ts'
import { type BigWorld, bigWorld } from '../light/bigWorld.ts'
import { serveEndpoint } from '../light/served.ts'
import { recorded } from '../light/world.ts'
import { openChromium } from '../runtimes/chromiumHost.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { missingShared, sharedPath } from '../support/shared.ts'

const MEBI = 1024 * 1024
/** The certificate table changes this often: on mainnet some instances in a hundred carry a change. */
const DELTA_EVERY = 20
const BALANCES = 20
const NETWORK = 'data/golden/f3/network.json'

const { values } = parseArgs({
  options: {
    certificates: { type: 'string', default: '2000' },
    signers: { type: 'string', default: '1500' },
    accounts: { type: 'string', default: '1000000' },
    runtime: { type: 'string', default: 'node' },
  },
})
const size = {
  certificates: Number(values.certificates),
  signers: Number(values.signers),
  accounts: Number(values.accounts),
  deltaEvery: DELTA_EVERY,
}

function report(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(64)} ${value.toFixed(value < 10 ? 2 : 0).padStart(9)} ${unit}`)
}

/** How a node in either runtime is asked. */
type Ask = <T>(method: string, params: readonly unknown[]) => Promise<T>

/** Until a balance is proven under the newest certificate; then what others cost. */
async function measure(label: string, from: BigWorld, started: number, traffic: () => number, ask: Ask): Promise<void> {
  const last = size.certificates - 1
  for (;;) {
    const { Final } = await ask<{ Final: { Instance: number } | null }>('LightStatus', [])
    if (Final?.Instance === last) break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  report(`${label}: start to the newest certificate`, performance.now() - started, 'ms')
  const before = traffic()
  await balance(from, 0, ask)
  report(`${label}: start to the first proven balance`, performance.now() - started, 'ms')
  report(`${label}: network of the first balance`, (traffic() - before) / 1000, 'kB')
  const rest = traffic()
  const since = performance.now()
  for (let n = 1; n <= BALANCES; n++) await balance(from, Math.floor((n * size.accounts) / (BALANCES + 1)), ask)
  report(`${label}: network of a balance after that`, (traffic() - rest) / BALANCES / 1000, 'kB')
  report(`${label}: a balance after that`, (performance.now() - since) / BALANCES, 'ms')
}

async function balance(from: BigWorld, n: number, ask: Ask): Promise<void> {
  const { address, balance: expected } = from.account(n)
  const found = await ask<string>('WalletBalance', [address.toString()])
  if (BigInt(found) !== expected) throw new Error(`account ${n}: ${found}, expected ${expected}`)
}

async function inTab(from: BigWorld, genesisCar: Uint8Array, url: string, traffic: () => number): Promise<void> {
  const chromium = await openChromium()
  try {
    writeFileSync(join(chromium.folder, 'genesis.car'), genesisCar)
    const context = await chromium.browser.newContext()
    for (const start of ['cold', 'warm']) await tab(`tab, ${start}`, await chromium.openPage(context))
    await context.close()
  } finally {
    await chromium.close()
  }

  async function tab(label: string, page: Page): Promise<void> {
    const network = readFileSync(sharedPath(NETWORK), 'utf8')
    const checkpoint = JSON.stringify(checkpointJson(from.checkpoint))
    const node = {
      kind: 'follow',
      mode: 'light',
      network,
      genesis: '/genesis.car',
      checkpoint,
      sources: [url],
      bootstrap: [],
    }
    const started = performance.now()
    await page.evaluate(`startTab(${JSON.stringify({ node })})`)
    await measure(label, from, started, traffic, (method, params) =>
      page.evaluate(`tab.request('Node.${method}', ${JSON.stringify(params)}).then(plain)`),
    )
    report(`${label}: heaps of the workers`, (await workerHeaps(page)) / MEBI, 'MiB')
    await page.evaluate('tab.stop()')
    await page.close()
  }
}

async function workerHeaps(page: Page): Promise<number> {
  return await page.evaluate<number>(`(async () => {
    const { breakdown } = await performance.measureUserAgentSpecificMemory()
    return breakdown.filter(({ attribution }) => attribution.some(({ scope }) => scope.includes('Worker')))
      .reduce((sum, { bytes }) => sum + bytes, 0)
  })()`)
}

async function inNode(from: BigWorld, genesisCar: Uint8Array, url: string, traffic: () => number): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'petrel-light-'))
  const file = (name: string, data: string | Uint8Array): string => {
    const path = join(home, name)
    writeFileSync(path, data)
    return path
  }
  const args = [
    ...[
      'daemon',
      '--validate',
      'light',
      '--network',
      sharedPath(NETWORK),
      '--genesis',
      file('genesis.car', genesisCar),
    ],
    ...['--checkpoint', file('checkpoint.json', JSON.stringify(checkpointJson(from.checkpoint)))],
    ...['--source', url, '--no-net', '--api', '0'],
  ]
  try {
    for (const start of ['cold', 'warm']) {
      const started = performance.now()
      const node = await startNode(values.runtime, home, args)
      await measure(`node, ${start}`, from, started, traffic, (method, params) => call(node, method, params))
      const status = readFileSync(`/proc/${node.pid}/status`, 'utf8')
      report(`node, ${start}: resident memory`, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024, 'MiB')
      await node.stop()
    }
  } finally {
    rmSync(home, { recursive: true })
  }
}

async function call<T>({ url, token }: NodeProcess, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(`${url}/rpc/v1`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Node.${method}`, params }),
  })
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}

const missing = missingShared(NETWORK)
if (missing === undefined) {
  await initCrypto()
  const from = bigWorld(size, (text) => console.log(`made: ${text}`))
  const { store } = recorded().chain.view
  const genesis = store.genesis().key[0]
  if (genesis === undefined) throw new Error('no genesis')
  const genesisCar = writeGenesisCar(store.blocks, genesis)
  const served = await serveEndpoint(from)
  try {
    await inNode(from, genesisCar, served.url, served.traffic)
    await inTab(from, genesisCar, served.url, served.traffic)
  } finally {
    served.close()
  }
} else {
  console.log(`skipped: ${missing}`)
}
