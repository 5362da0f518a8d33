/**
 * `npm run soak -- [--hours n] [--seed s]`: a producer with a block a second and a follower, clients of several kinds, and faults at
 * random: a follower that is killed, connections that break off, calls that nobody waits for. Prints each minute what both take, and
 * in the end how fast that grew after the first third.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { randomOf } from '../fuzz/mutate.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '2' },
    seed: { type: 'string' },
    every: { type: 'string', default: '60' },
    'block-time': { type: 'string', default: '0.3' },
    /** MiB of `--cache`: small ones are soon full, and what grows then is no cache. */
    cache: { type: 'string', default: '64' },
  },
})
const hours = Number(values.hours)
const everyMs = Number(values.every) * 1000
const seed = values.seed === undefined ? Date.now() % 0x7fffffff : Number(values.seed)
const random = randomOf(seed)
console.log(`seed ${seed}`)
const folder = mkdtempSync(join(tmpdir(), 'petrel-soak-'))
const end = Date.now() + hours * 3_600_000

/** What a process takes at a moment. */
interface Sample {
  readonly minutes: number
  readonly residentMb: number
  /** Without pages of files, which the system takes back when it needs them. */
  readonly ownMb: number
  readonly handles: number
  readonly diskMb: number
  readonly head: number
}

function diskBytes(path: string): number {
  let bytes = 0
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0
  }
  return bytes
}

const began = Date.now()

async function sample(node: NodeProcess, home: string): Promise<Sample> {
  const status = readFileSync(`/proc/${node.pid}/status`, 'utf8')
  const mb = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024)
  const { Height: head } = await new RpcClient(node.url).call('ChainHead')
  return {
    minutes: (Date.now() - began) / 60_000,
    residentMb: mb('VmRSS'),
    ownMb: mb('RssAnon'),
    handles: readdirSync(`/proc/${node.pid}/fd`).length,
    diskMb: Math.round(diskBytes(home) / 1024 / 1024),
    head,
  }
}

/** Epochs of mainnet's hour. */
const HOUR_EPOCHS = 120

/** Least squares over what came after the first third, MB for each of `x`. */
function slope(samples: readonly Sample[], x: (one: Sample) => number): number {
  const late = samples.slice(Math.floor(samples.length / 3))
  const mean = (of: (one: Sample) => number): number => late.reduce((sum, one) => sum + of(one), 0) / late.length
  const [midX, midY] = [mean(x), mean((one) => one.ownMb)]
  const above = late.reduce((sum, one) => sum + (x(one) - midX) * (one.ownMb - midY), 0)
  const below = late.reduce((sum, one) => sum + (x(one) - midX) ** 2, 0)
  return below === 0 ? 0 : above / below
}

function growth(samples: readonly Sample[]): string {
  const real = slope(samples, ({ minutes }) => minutes / 60)
  const simulated = slope(samples, ({ head }) => head / HOUR_EPOCHS)
  return `${real.toFixed(1)} MB an hour, ${simulated.toFixed(2)} MB for an hour of mainnet's epochs`
}

const producerHome = join(folder, 'producer')
const followerHome = join(folder, 'follower')
const producer = await startNode('node', producerHome, [
  ...['devnet', '--api', '0', '--block-time', values['block-time'], '--actors', 'native', '--cache', values.cache],
  ...['--listen', '/ip4/127.0.0.1/tcp/0'],
])
let address: string | undefined
while (address === undefined) {
  // It is printed when the host listens, a little after the API does.
  await sleep(20)
  address = /other nodes on (\S+)/.exec(producer.output())?.[1]
}
const bootstrap = address
const startFollower = (): Promise<NodeProcess> =>
  startNode('node', followerHome, [
    ...['daemon', '--network', join(producerHome, 'network.json'), '--bootstrap', bootstrap, '--api', '0'],
    ...['--listen', '/ip4/127.0.0.1/tcp/0', '--cache', values.cache],
  ])
let follower = await startFollower()
const admin = new RpcClient(producer.url, producer.token)
const accounts: { Address: string }[] = await admin.call('DevnetAccounts')
const counts = { sends: 0, reads: 0, executions: 0, broken: 0, abandoned: 0, kills: 0, failures: 0 }

async function repeat(pauseMs: number, work: () => Promise<void>): Promise<void> {
  while (Date.now() < end) {
    await work().catch(() => void counts.failures++)
    await sleep(1 + random(2 * pauseMs))
  }
}

const either = (): string => (random(2) === 0 ? producer.url : follower.url)
const clients = [
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
  repeat(2000, async () => {
    const socket = new WebSocket(`${either().replace('http', 'ws')}/rpc/v1`)
    await new Promise((resolve, reject) => {
      socket.onopen = resolve
      socket.onerror = reject
    })
    socket.send('{"jsonrpc":"2.0","id":1,"method":"Filecoin.ChainNotify","params":[]}')
    await sleep(random(5000))
    socket.close()
    counts.broken++
  }),
  // Callers that go before their answer comes.
  repeat(2000, async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.StateCompute","params":[100,[],[]]}'
    await fetch(`${either()}/rpc/v1`, { method: 'POST', body, signal: AbortSignal.timeout(20) }).catch(() => undefined)
    counts.abandoned++
  }),
]

const samples: { producer: Sample[]; follower: Sample[] } = { producer: [], follower: [] }
while (Date.now() < end) {
  await sleep(everyMs)
  const one = await sample(producer, producerHome)
  const two = await sample(follower, followerHome)
  samples.producer.push(one)
  samples.follower.push(two)
  const text = ({ residentMb, ownMb, handles, diskMb }: Sample): string =>
    `${residentMb} MB (own ${ownMb}), ${handles} handles, ${diskMb} MB on disk`
  console.log(
    `${one.minutes.toFixed(1)} min, epoch ${one.head}, lag ${one.head - two.head}: producer ${text(one)}; follower ${text(two)}`,
  )
  // Rarely, so that its memory shows a slope.
  if (samples.follower.length % 120 === 119) {
    await follower.kill()
    counts.kills++
    follower = await startFollower()
  }
}
await Promise.all(clients)
console.log(JSON.stringify(counts))
console.log(`growth: producer ${growth(samples.producer)}; follower ${growth(samples.follower)}`)
await follower.stop()
await producer.stop()
rmSync(folder, { recursive: true, force: true })
