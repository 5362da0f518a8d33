/**
 * Measures a node on a local chain, each figure with its unit. For orientation, Lotus on a 2-core machine: 9,900
 * ChainHead and 12,300 WalletBalance requests per second to `wrk -t1 -c8`, a median of 0.5 to 0.9 ms to a sequential
 * client, 395 MB.
 *
 *     npm run bench [-- node|deno] [transfers]
 *
 * The client runs on the same cores; `wrk` is used where it is installed, otherwise a client in Node that is itself the
 * limit at some 10,000 requests per second.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import type { LoadResult } from './load.ts'

const SECONDS = 4
const CONNECTIONS = 8
const CLIENT = join(import.meta.dirname, 'load.ts')
const TRANSFER = {
  Version: 0,
  Nonce: 0,
  Value: '1',
  GasLimit: 0,
  GasFeeCap: '0',
  GasPremium: '0',
  Method: 0,
  Params: null,
}

const [runtime = 'node', count = '500'] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(count)) throw new RangeError(`usage: run.ts [node|deno] [transfers], not ${count}`)

function report(what: string, value: number, unit: string): void {
  const digits = value < 10 ? 2 : 0
  console.log(`${what.padEnd(52)} ${value.toFixed(digits).padStart(10)} ${unit}`)
}

function memoryMb({ pid }: NodeProcess): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) / 1024
}

function loadWith(node: NodeProcess, method: string, params: unknown[], connections: number): LoadResult {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params })
  const args = [CLIENT, node.url, node.token, body, String(connections), String(SECONDS * 1000)]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as LoadResult
}

/** Requests per second by `wrk`, undefined where it is not installed. */
function wrk(node: NodeProcess, method: string, params: unknown[]): number | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-wrk-'))
  const script = join(folder, 'post.lua')
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params })
  writeFileSync(
    script,
    `wrk.method = "POST"\nwrk.body = '${body}'\nwrk.headers["Authorization"] = "Bearer ${node.token}"\n`,
  )
  const run = spawnSync('wrk', ['-t1', `-c${CONNECTIONS}`, `-d${SECONDS}s`, '-s', script, `${node.url}/rpc/v1`], {
    encoding: 'utf8',
  })
  rmSync(folder, { recursive: true })
  const rate = /Requests\/sec:\s+([\d.]+)/.exec(run.stdout ?? '')?.[1]
  return rate === undefined ? undefined : Number(rate)
}

const home = mkdtempSync(join(tmpdir(), 'petrel-bench-'))
console.log(`# ${runtime}`)
let node = await startNode(runtime, home, ['devnet', '--api', '0', '--manual'])
try {
  report('start of a new chain to first answer', node.startMs, 'ms')
  const rpc = new RpcClient(node.url, node.token)
  await rpc.call('DevnetMine', 3, null)
  report('memory after start', memoryMb(node), 'MB')

  const [from, to] = (await rpc.call('DevnetAccounts')).map((one: Answer) => one.Address)
  for (const [method, params] of [
    ['ChainHead', []],
    ['WalletBalance', [from]],
    ['StateGetActor', [from, []]],
  ] as const) {
    const busy = loadWith(node, method, [...params], CONNECTIONS)
    report(`${method}, ${CONNECTIONS} connections`, busy.perSecond, 'requests/s')
    const fast = wrk(node, method, [...params])
    if (fast !== undefined) report(`${method}, wrk -t1 -c${CONNECTIONS}`, fast, 'requests/s')
    report(`${method}, one after the other, median`, loadWith(node, method, [...params], 1).medianMs, 'ms')
  }

  const wanted = Number(count)
  let started = performance.now()
  for (let i = 0; i < wanted; i++) await rpc.call('MpoolPushMessage', { ...TRANSFER, From: from, To: to }, null)
  report('sends: priced, signed, on disk', (wanted / (performance.now() - started)) * 1000, 'messages/s')
  started = performance.now()
  const tipset = await rpc.call('DevnetMine', 1, null)
  report(`block with ${wanted} messages: select, sign, store`, performance.now() - started, 'ms')
  const messages = (await rpc.call('ChainGetMessagesInTipset', tipset.Cids)).length
  started = performance.now()
  await rpc.call('DevnetMine', 1, null)
  report(`transfers executed (block of ${messages})`, (messages / (performance.now() - started)) * 1000, 'messages/s')
  started = performance.now()
  await rpc.call('ChainGetTransfers', tipset.Cids)
  report('transfers executed with traces', (messages / (performance.now() - started)) * 1000, 'messages/s')
  report('memory at the end', memoryMb(node), 'MB')

  await node.stop()
  node = await startNode(runtime, home, ['devnet', '--api', '0', '--manual'])
  report('start of a kept chain to first answer', node.startMs, 'ms')
} finally {
  await node.kill()
  rmSync(home, { recursive: true, force: true })
}
