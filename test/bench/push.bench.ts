/**
 * Withdrawals per second: durable pushes of 16 clients at the same time, and a batch of 1,200 signed messages.
 *
 *     node test/bench/push.bench.ts [seconds] [runtime]      default 5 node
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNode } from '../runtimes/nodeProcess.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'

const CLIENTS = 16
const BATCH = 1_200
const SENDERS = 4
const [seconds = '5', runtime = 'node'] = process.argv.slice(2)

const home = mkdtempSync(join(tmpdir(), 'petrel-push-'))
const node = await startNode(runtime, home, [
  'devnet',
  '--api',
  '0',
  '--no-net',
  // Often enough that no sender has more than the pool takes of one, 1,000.
  '--block-time',
  '0.4',
  '--actors',
  'native',
])
const admin = new RpcClient(node.url, node.token)
const accounts: { Address: string; Type: string }[] = await admin.call('DevnetAccounts')
const from = (await admin.call('WalletDefaultAddress')) as string
const plain = { Version: 0, Value: '1', GasLimit: 0, GasFeeCap: '0', GasPremium: '0', Method: 0, Params: null }

function report(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(50)} ${value.toFixed(0).padStart(6)} ${unit}`)
}

/** Processor time of the node's busiest thread (its event loop) so far, ms; 0 where there is no /proc. */
function loopCpuMs(): number {
  try {
    return Number(readFileSync(`/proc/${node.pid}/task/${node.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })

/** One call over a kept connection. `fetch` takes three times the processor, which the node is then without. */
function call(method: string, ...params: unknown[]): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${node.token}` }
  return new Promise((resolve, reject) => {
    const sent = request(`${node.url}/rpc/v1`, { method: 'POST', headers, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => (text.includes('"error"') ? reject(new Error(text)) : resolve()))
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Node.${method}`, params }))
  })
}

/** Runs the same task in 16 loops. */
async function rate(what: string, task: (client: number) => Promise<unknown>): Promise<void> {
  const started = performance.now()
  const end = started + 1000 * Number(seconds)
  const cpu = loopCpuMs()
  let done = 0
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      while (performance.now() < end) {
        await task(client)
        done++
      }
    }),
  )
  report(what, (1000 * done) / (performance.now() - started), 'a second')
  report(`  processor time of the event loop`, (1000 * (loopCpuMs() - cpu)) / done, 'us each')
}

/** Signed messages with nonces behind what the sender has. */
async function signedBy(sender: string, count: number): Promise<Answer[]> {
  const nonce = (await admin.call('MpoolGetNonce', sender)) as number
  const signed: Answer[] = []
  for (let i = 0; i < count; i++) {
    const numbered = { ...plain, From: sender, To: from, Nonce: nonce + i }
    const priced = { ...numbered, GasLimit: 2_000_000, GasFeeCap: '10000000000', GasPremium: '100000' }
    signed.push(await admin.call('WalletSignMessage', sender, priced))
  }
  return signed
}

/** Waits until nothing is pending. */
async function drained(): Promise<void> {
  while (((await admin.call('MpoolPending', [])) as unknown[]).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

try {
  const senders: string[] = []
  for (let i = 0; i < SENDERS; i++) {
    const sender = (await admin.call('WalletNew', 'secp256k1')) as string
    senders.push(sender)
    await admin.call('MpoolPushMessage', { ...plain, Value: '100000000000000000000', From: from, To: sender }, null)
  }
  await drained()
  console.log(`${accounts.length} accounts, ${CLIENTS} clients`)
  const queues: Answer[][] = await Promise.all(senders.map((sender) => signedBy(sender, BATCH / 2)))
  const pushing = performance.now()
  const cpu = loopCpuMs()
  // Each sender's in order of nonces, by 4 clients.
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const queue = queues[client % SENDERS] as Answer[]
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) await call('MpoolPush', one)
    }),
  )
  const pushed = SENDERS * (BATCH / 2)
  report('MpoolPush of signed messages', (1000 * pushed) / (performance.now() - pushing), 'a second')
  report(`  processor time of the event loop`, (1000 * (loopCpuMs() - cpu)) / pushed, 'us each')
  await drained()
  const batch = (await Promise.all(senders.map((sender) => signedBy(sender, BATCH / SENDERS)))).flat()
  const started = performance.now()
  await admin.call('MpoolBatchPush', batch)
  report('MpoolBatchPush of 1,200 signed messages', performance.now() - started, 'ms')
  await drained()
  await rate('MpoolPushMessage, one sender', () =>
    call('MpoolPushMessage', { ...plain, From: from, To: senders[0] }, null),
  )
  await drained()
  await rate('MpoolPushMessage, 4 senders', (client) =>
    call('MpoolPushMessage', { ...plain, From: senders[client % SENDERS], To: from }, null),
  )
} finally {
  agent.destroy()
  await node.stop()
  rmSync(home, { recursive: true, force: true })
}
