/**
 * Measures the node in a tab of Chromium: cold and warm start, IndexedDB, memory of the worker, a replayed tipset beside
 * Node's.
 *
 *     node test/bench/browser.bench.ts
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Page } from 'playwright-core'
import { openRecorded } from '../../scripts/golden/openRecorded.ts'
import { type Chromium, evaluate, openChromium, PASSPHRASE } from '../runtimes/chromiumHost.ts'
import { follows, openLeader } from '../runtimes/followSteps.ts'
import { bundlesHere } from '../support/actors.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { missingShared, ROOT, sharedPath } from '../support/shared.ts'

const RUNS = 3
const MEBI = 1024 * 1024
const CHAIN = 'data/golden/nv28'
const LOCAL = { kind: 'local', devnet: { blockTimeMs: 0 } }

function report(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(60)} ${value.toFixed(value < 10 ? 2 : 0).padStart(9)} ${unit}`)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** From the page's load to the first answer: a new profile, then the same one again. */
async function starts(chromium: Chromium): Promise<void> {
  for (const [label, options] of [
    ['local chain', { node: LOCAL }],
    ['local chain, keys under a passphrase', { node: LOCAL, passphrase: PASSPHRASE }],
  ] as const) {
    const cold: number[] = []
    const warm: number[] = []
    for (let run = 0; run < RUNS; run++) {
      const context = await chromium.browser.newContext()
      for (const times of [cold, warm]) {
        const page = await chromium.openPage(context)
        times.push(await page.evaluate<number>(`startTab(${JSON.stringify(options)})`))
        await page.evaluate('tab.stop()')
        await page.close()
      }
      await context.close()
    }
    report(`${label}: cold start to the first answer`, median(cold), 'ms')
    report(`${label}: warm start to the first answer`, median(warm), 'ms')
  }
}

/** A follower of one Node peer on this machine, 100 tipsets behind: from the page's load to the peer's head, checked. */
async function provenHeads(chromium: Chromium): Promise<void> {
  const leader = await openLeader()
  try {
    await leader.rpc.call('DevnetMine', 100, null)
    copyFileSync(leader.genesis, join(chromium.folder, 'genesis.car'))
    for (const kind of ['ws', 'webrtc-direct'] as const) {
      const context = await chromium.browser.newContext()
      const bootstrap = [leader.address(kind)]
      const node = { kind: 'follow', network: leader.network, genesis: '/genesis.car', mode: 'headers', bootstrap }
      for (const start of ['cold', 'warm']) {
        const page = await chromium.openPage(context)
        const started = performance.now()
        await page.evaluate(`startTab(${JSON.stringify({ node })})`)
        const answered = performance.now() - started
        await follows(page, leader)
        report(`follower, ${kind}, ${start} start to the first answer`, answered, 'ms')
        report(`follower, ${kind}, ${start} start to the proven head`, performance.now() - started, 'ms')
        await page.evaluate('tab.stop()')
        await page.close()
        // A warm start has 10 tipsets to catch up with.
        await leader.rpc.call('DevnetMine', 10, null)
      }
      await context.close()
    }
  } finally {
    await leader.stop()
  }
}

/** Writes and reads of blocks, in a worker of its own. */
async function indexedDb(chromium: Chromium): Promise<void> {
  const source = `
import { openBrowserStores } from ${JSON.stringify(join(ROOT, 'platform/browser/browserStores.ts'))}
import { openDatabase } from ${JSON.stringify(join(ROOT, 'platform/browser/database.ts'))}
import { blockCid } from ${JSON.stringify(join(ROOT, 'src/crypto/blockCid.ts'))}
const log = { debug() {}, info() {}, warn() {}, error() {} }
const open = async (preloadBytes) => await openBrowserStores({ database: await openDatabase('bench'), log, evict: false, preloadBytes })
const COUNT = 20000
const blocks = Array.from({ length: COUNT }, (_, i) => {
  const data = new Uint8Array(500)
  new DataView(data.buffer).setUint32(0, i)
  return [blockCid(data), data]
})
let stores = await open(0)
const out = {}
let started = performance.now()
for (const [cid, data] of blocks) stores.blocks.put(cid, data)
await stores.settle()
out.writes = COUNT / (performance.now() - started) * 1000
started = performance.now()
for (let i = 0; i < 200; i++) { stores.meta.put(Uint8Array.of(1, i), new Uint8Array(100)); await stores.settle() }
out.commits = 200 / (performance.now() - started) * 1000
started = performance.now()
for (let i = 0; i < 50; i++) { stores.meta.put(Uint8Array.of(2, i), new Uint8Array(100)); await stores.flush() }
out.flushes = 50 / (performance.now() - started) * 1000
await stores.close()
stores = await open(0)
const cids = blocks.map(([cid]) => cid)
started = performance.now()
for (let i = 0; i < COUNT; i += 500) await stores.source.fetch(cids.slice(i, i + 500))
out.reads = COUNT / (performance.now() - started) * 1000
started = performance.now()
for (let i = 0; i < 1000; i++) await stores.source.fetch([cids[i * 17 % COUNT]])
out.single = 1000 / (performance.now() - started) * 1000
await stores.close()
postMessage(out)
`
  writeFileSync(join(chromium.folder, 'bench.ts'), source)
  await build({
    entryPoints: [join(chromium.folder, 'bench.ts')],
    outfile: join(chromium.folder, 'bench.js'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    absWorkingDir: ROOT,
    nodePaths: [join(ROOT, 'node_modules')],
    logLevel: 'error',
  })
  const context = await chromium.browser.newContext()
  const page = await chromium.openPage(context)
  const out = await page.evaluate<Record<string, number>>(`new Promise((resolve, reject) => {
    const worker = new Worker('/bench.js', { type: 'module' })
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = (event) => reject(new Error(event.message))
  })`)
  report('IndexedDB: blocks of 500 bytes written', out.writes ?? 0, 'blocks/s')
  report('IndexedDB: commits of one value (survive the tab)', out.commits ?? 0, '1/s')
  report('IndexedDB: flushes of one value (survive a power cut)', out.flushes ?? 0, '1/s')
  report('IndexedDB: blocks read, 500 at a time', out.reads ?? 0, 'blocks/s')
  report('IndexedDB: blocks read one by one', out.single ?? 0, 'blocks/s')
  await context.close()
}

/** Heaps of the page's workers, MiB: the node's and the machine's. */
async function workerHeaps(page: Page): Promise<number> {
  const bytes = await page.evaluate<number>(`(async () => {
    if (typeof performance.measureUserAgentSpecificMemory !== 'function') return 0
    const { breakdown } = await performance.measureUserAgentSpecificMemory()
    return breakdown.filter(({ attribution }) => attribution.some(({ scope }) => scope.includes('Worker')))
      .reduce((sum, { bytes }) => sum + bytes, 0)
  })()`)
  return bytes / MEBI
}

async function memory(chromium: Chromium): Promise<void> {
  const context = await chromium.browser.newContext()
  const page = await chromium.openPage(context)
  await page.evaluate(`startTab(${JSON.stringify({ node: LOCAL })})`)
  await evaluate(page, `tab.request('DevnetMine', [50, null])`)
  report('workers of a local chain after 50 tipsets, memory', await workerHeaps(page), 'MiB')
  await context.close()
}

/** The tipset with the most messages of a recorded chain, executed again with traces. */
async function replay(chromium: Chromium): Promise<void> {
  const missing = missingShared(CHAIN) ?? (bundlesHere().length === 0 ? "no actors' bundles" : undefined)
  if (missing !== undefined) {
    console.log(`skipped: ${missing}`)
    return
  }
  const folder = sharedPath(CHAIN)
  const node = await openRecorded(folder)
  const rpc = new RpcClient(node.url, node.token)
  let best = { height: 0, key: [] as unknown[], messages: 0 }
  for (let tipset = await rpc.call('ChainHead'); tipset.Height > 1; ) {
    tipset = await rpc.call('ChainGetTipSet', tipset.Blocks[0].Parents)
    const messages = ((await rpc.call('ChainGetMessagesInTipset', tipset.Cids)) ?? []).length as number
    if (messages > best.messages) best = { height: tipset.Height, key: tipset.Cids, messages }
  }
  const params = [best.height, [], best.key]
  const label = `StateCompute of ${best.messages} messages (height ${best.height})`
  const timed = async (run: () => Promise<unknown>): Promise<number> => {
    const started = performance.now()
    await run()
    return performance.now() - started
  }
  const inNode: number[] = []
  for (let run = 0; run <= RUNS; run++) inNode.push(await timed(() => rpc.call('StateCompute', ...params)))
  await node.close()
  const context = await chromium.browser.newContext()
  const page = await chromium.openPage(context)
  const network = readFileSync(join(folder, 'network.json'), 'utf8')
  const bundles = bundlesHere().filter((one) => network.includes(one))
  const options = {
    node: {
      kind: 'snapshot',
      network,
      snapshot: `/shared/${CHAIN}/chain.car.zst`,
      bundles: bundles.map((one) => `/actors/${one}.car`),
    },
  }
  report(
    'snapshot of nv28 from an address: start to the first answer',
    await page.evaluate<number>(`startTab(${JSON.stringify(options)})`),
    'ms',
  )
  const inTab: number[] = []
  for (let run = 0; run <= RUNS; run++) {
    inTab.push(await timed(() => evaluate(page, `tab.request('StateCompute', ${JSON.stringify(params)})`)))
  }
  report(`${label}, Node, first`, inNode[0] ?? 0, 'ms')
  report(`${label}, Node, again`, median(inNode.slice(1)), 'ms')
  report(`${label}, tab, first`, inTab[0] ?? 0, 'ms')
  report(`${label}, tab, again`, median(inTab.slice(1)), 'ms')
  report('workers of the snapshot, memory', await workerHeaps(page), 'MiB')
  await context.close()
}

const chromium = await openChromium()
try {
  await starts(chromium)
  await provenHeads(chromium)
  await indexedDb(chromium)
  await memory(chromium)
  await replay(chromium)
} finally {
  await chromium.close()
}
