/**
 * Withdrawals per second: durable pushes of 16 clients at the same time, and a batch of 1,200 signed messages.
 *
 *     node test/bench/push.bench.ts [seconds] [runtime]      default 5 node
 */
import { mkdtempSync, rmSync } from 'node:fs'
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
  '--block-time',
  '1',
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

/** Runs the same task in 16 loops. */
async function rate(what: string, task: (client: number) => Promise<unknown>): Promise<void> {
  const started = performance.now()
  const end = started + 1000 * Number(seconds)
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
}

/** Signed messages with nonces behind what the sender has. */
async function signedBy(sender: string, count: number): Promise<Answer[]> {
  const nonce = (await admin.call('MpoolGetNonce', sender)) as number
  return await Promise.all(
    Array.from({ length: count }, (_, i) =>
      admin.call('WalletSignMessage', sender, {
        ...plain,
        From: sender,
        To: from,
        Nonce: nonce + i,
        GasLimit: 2_000_000,
        GasFeeCap: '10000000000',
        GasPremium: '100000',
      }),
    ),
  )
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
  // Each sender's in order of nonces, by 4 clients.
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const queue = queues[client % SENDERS] as Answer[]
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) await admin.call('MpoolPush', one)
    }),
  )
  report('MpoolPush of signed messages', (1000 * SENDERS * (BATCH / 2)) / (performance.now() - pushing), 'a second')
  await drained()
  const batch = (await Promise.all(senders.map((sender) => signedBy(sender, BATCH / SENDERS)))).flat()
  const started = performance.now()
  await admin.call('MpoolBatchPush', batch)
  report('MpoolBatchPush of 1,200 signed messages', performance.now() - started, 'ms')
  await drained()
  await rate('MpoolPushMessage, one sender', () =>
    admin.call('MpoolPushMessage', { ...plain, From: from, To: senders[0] }, null),
  )
  await drained()
  await rate('MpoolPushMessage, 4 senders', (client) =>
    admin.call('MpoolPushMessage', { ...plain, From: senders[client % SENDERS], To: from }, null),
  )
} finally {
  await node.stop()
  rmSync(home, { recursive: true, force: true })
}
