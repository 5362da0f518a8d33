/**
 * `npm run soak -- [--hours n] [--seed s]`: a producer that makes certificates of finality, followers that execute, check headers, and follow
 * certificates, a tab that follows where there is a Chromium, clients of several kinds, and faults at random: a follower that is killed, a tab that is loaded anew,
 * connections that break off, calls that nobody waits for. In the first half (`--faults` says which share) followers are killed and the
 * tab is loaded anew, some minutes apart; the rest shows a slope. Prints each minute, and for each hour, what all of them take, in MB, each kind of memory
 * for itself, and in the end how fast each grew since its last start, without the first hour of that, or the first third.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { programArgs } from '../../scripts/programArgs.ts'
import { errorMessage } from '../../src/base/errors.ts'
import { randomOf } from '../fuzz/mutate.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { findChromium } from '../support/chromium.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { INSPECTED } from './heap.ts'
import { growth, inWords, type Sample, sampleOf } from './sample.ts'
import { openTab } from './tab.ts'

const { values } = programArgs(import.meta.filename, {
  options: {
    hours: { type: 'string', default: '2' },
    seed: { type: 'string' },
    every: { type: 'string', default: '60' },
    'block-time': { type: 'string', default: '0.3' },
    /** MiB of `--cache`: small ones are soon full, and what grows then is no cache. */
    cache: { type: 'string', default: '64' },
    /** The share of the time in which nodes are killed: what was started anew fills its caches after that, for an hour or so. */
    faults: { type: 'string', default: '0.5' },
  },
})
const hours = Number(values.hours)
const everyMs = Number(values.every) * 1000
const seed = values.seed === undefined ? Date.now() % 0x7fffffff : Number(values.seed)
const random = randomOf(seed)
console.log(`seed ${seed}`)
/** With an inspector, on a busy machine. */
const START_MS = 120_000
const folder = mkdtempSync(join(tmpdir(), 'petrel-soak-'))

const producerHome = join(folder, 'producer')
const start = (home: string, args: readonly string[]): Promise<NodeProcess> =>
  startNode('node', home, args, START_MS, INSPECTED)
const producer = await start(producerHome, [
  ...['devnet', '--api', '0', '--block-time', values['block-time'], '--actors', 'native', '--cache', values.cache],
  ...['--f3', '10', '--listen', '/ip4/127.0.0.1/tcp/0', '--listen', '/ip4/127.0.0.1/tcp/0/ws'],
])
const addresses = (): string[] =>
  [...producer.output().matchAll(/other nodes on (\S+)/g)].map((one) => one[1] as string)
// They are printed when the host listens, a little after the API does.
while (addresses().length < 2) await sleep(20)
const bootstrap = addresses().find((one) => !one.includes('/ws/')) as string
/** By how they check blocks. */
const MODES = ['execute', 'headers', 'light'] as const
const startFollower = (mode: (typeof MODES)[number]): Promise<NodeProcess> =>
  start(join(folder, mode), [
    ...['daemon', '--network', join(producerHome, 'network.json'), '--bootstrap', bootstrap, '--api', '0'],
    ...['--listen', '/ip4/127.0.0.1/tcp/0', '--cache', values.cache, '--validate', mode],
  ])
const followers = {
  execute: await startFollower('execute'),
  headers: await startFollower('headers'),
  light: await startFollower('light'),
}
const tab =
  findChromium() === undefined
    ? undefined
    : await openTab(producerHome, addresses().find((one) => one.includes('/ws/')) as string)
if (tab === undefined) console.log('without a tab: there is no Chromium')
// From here on: on a busy machine all of that takes a while to start.
const began = Date.now()
const end = began + hours * 3_600_000
const admin = new RpcClient(producer.url, producer.token)
const accounts: { Address: string }[] = await admin.call('DevnetAccounts')
/** What is remembered of messages holds 32,000 of them: so many are sent in the first third, and what grows after that is none of it. */
const FILLING = { messages: 33_000, batch: 50, everyMs: 1000 }
const counts = { sends: 0, reads: 0, executions: 0, broken: 0, abandoned: 0, kills: 0, reloads: 0, failures: 0 }

/** Why calls failed, without what differs from call to call. A follower that is down refuses; filters that were left keep others out. */
const reasons: Record<string, number> = {}
function failed(error: unknown): void {
  counts.failures++
  const reason = errorMessage(error).replace(/\d+/g, '#').slice(0, 100)
  reasons[reason] = (reasons[reason] ?? 0) + 1
}

async function repeat(pauseMs: number, work: () => Promise<void>): Promise<void> {
  while (Date.now() < end) {
    await work().catch(failed)
    await sleep(1 + random(2 * pauseMs))
  }
}

const either = (): string => (random(2) === 0 ? producer.url : followers.execute.url)
async function fill(): Promise<void> {
  const secp = accounts.map(({ Address }) => Address).filter((address) => address.startsWith('t1'))
  const pauseMs = Math.min(FILLING.everyMs, ((end - began) / 3) * (FILLING.batch / FILLING.messages))
  for (let sent = 0; sent < FILLING.messages && Date.now() < end; sent += FILLING.batch) {
    const batch = Array.from({ length: FILLING.batch }, (_, i) => ({
      From: secp[i % secp.length],
      To: secp[(i + 1) % secp.length],
      Value: '1',
    }))
    await admin.call('MpoolBatchPushMessage', batch, null).catch(failed)
    counts.sends += FILLING.batch
    await sleep(pauseMs)
  }
}

/** A WebSocket that subscribes and breaks off. */
async function subscribe(method: string, params: readonly unknown[]): Promise<void> {
  const socket = new WebSocket(`${either().replace('http', 'ws')}/rpc/v1`)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  await sleep(random(5000))
  socket.close()
  counts.broken++
}

const clients = [
  fill(),
  repeat(200, async () => {
    const [from, to] = [accounts[random(3)]?.Address, accounts[3 + random(3)]?.Address]
    await admin.call('MpoolPushMessage', { From: from, To: to, Value: '1' }, null)
    counts.sends++
  }),
  repeat(50, async () => {
    await new RpcClient(either()).call('StateListActors', [])
    counts.reads++
  }),
  repeat(1000, async () => {
    await new RpcClient(either()).call('StateCompute', 1, [], [])
    counts.executions++
  }),
  // Subscribers that break off.
  repeat(2000, () => subscribe('Filecoin.ChainNotify', [])),
  repeat(2000, () => subscribe('eth_subscribe', ['newHeads'])),
  repeat(2000, async () => {
    const response = await fetch(`${either()}/transfers`, { signal: AbortSignal.timeout(1 + random(5000)) })
    await response.text().catch(() => undefined)
    counts.broken++
  }),
  repeat(500, async () => {
    const call = (id: number, method: string): object => ({ jsonrpc: '2.0', id, method, params: [] })
    const body = JSON.stringify(
      Array.from({ length: 20 }, (_, i) => call(i, i % 2 === 0 ? 'eth_blockNumber' : 'Filecoin.ChainHead')),
    )
    const response = await fetch(`${either()}/rpc/v1`, { method: 'POST', body })
    if (((await response.json()) as unknown[]).length !== 20) throw new Error('an answer is missing')
    counts.reads += 20
  }),
  repeat(1000, async () => {
    const client = new RpcClient(either())
    const filter = await client.call('EthNewBlockFilter')
    await client.call('EthGetFilterChanges', filter)
    // Now and then one is left to expire, after a day: of a hundred more there is no room for others.
    if (random(400) > 0) await client.call('EthUninstallFilter', filter)
    counts.reads++
  }),
  // Callers that go before their answer comes.
  repeat(2000, async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.StateCompute","params":[100,[],[]]}'
    await fetch(`${either()}/rpc/v1`, { method: 'POST', body, signal: AbortSignal.timeout(20) }).catch(() => undefined)
    counts.abandoned++
  }),
]

const samples: Record<string, Sample[]> = {
  producer: [],
  execute: [],
  headers: [],
  light: [],
  ...(tab === undefined ? {} : { tab: [] }),
}

/** Samples between two faults, about. */
const SAMPLES_PER_FAULT = 6
/** The first sample of each since its last start. */
const startedAt: Record<string, number> = {}

/** @param since - the sample that it is compared with */
function told(at: number, since?: number): string {
  const of = ([name, all]: [string, Sample[]]): string =>
    `${name} ${inWords(all[at] as Sample, since === undefined ? undefined : all[since])}`
  const head = (name: string): number => samples[name]?.[at]?.head ?? 0
  const [first, ...others] = Object.keys(samples) as [string, ...string[]]
  const lag = others.map((name) => `${name} ${head(first) - head(name)}`).join(', ')
  return `epoch ${head(first)}, lag ${lag}: ${Object.entries(samples).map(of).join('; ')}`
}

let hourBegan = 0
while (Date.now() < end) {
  await sleep(Math.min(everyMs, Math.max(0, end - Date.now())))
  samples.producer?.push(await sampleOf(producer, producerHome, began))
  for (const mode of MODES) samples[mode]?.push(await sampleOf(followers[mode], join(folder, mode), began))
  if (tab !== undefined) samples.tab?.push({ minutes: (Date.now() - began) / 60_000, ...(await tab.sample()) })
  const at = (samples.producer?.length ?? 0) - 1
  console.log(`${(samples.producer?.[at]?.minutes ?? 0).toFixed(1)} min, ${told(at)}`)
  const hour = Math.floor((samples.producer?.[at]?.minutes ?? 0) / 60)
  if (hour > Math.floor((samples.producer?.[hourBegan]?.minutes ?? 0) / 60)) {
    console.log(`hour ${hour}: ${told(at, hourBegan)}`)
    hourBegan = at
  }
  if (Date.now() < began + (end - began) * Number(values.faults) && random(SAMPLES_PER_FAULT) === 0) {
    const victim = random(MODES.length + 1)
    const mode = MODES[victim]
    startedAt[mode ?? 'tab'] = at + 1
    if (mode === undefined) {
      await tab?.reload()
      counts.reloads++
    } else {
      await followers[mode].kill()
      counts.kills++
      followers[mode] = await startFollower(mode)
    }
  }
}
await Promise.all(clients)
console.log(JSON.stringify({ ...counts, reasons }))
for (const [name, all] of Object.entries(samples)) {
  console.log(`growth: ${name} ${growth(all.slice(startedAt[name]))}`)
}
await tab?.close()
for (const one of [...Object.values(followers), producer]) await one.stop()
rmSync(folder, { recursive: true, force: true })
