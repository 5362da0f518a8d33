/**
 * What a stranger waits for while anonymous callers ask for all that is dear, and whether the producer misses a block. By hand:
 *
 *     node test/attack/cost.ts [--seconds 60] [--actors 1000] [--only <part of a method's name>] [--permission read]
 *
 * Beside them so many as may listen at all hear of heads (`--only ChainNotify`), from sixteen addresses of this machine, and batches ask
 * for the largest document, read to their end (`--only batch`).
 *
 * The callers run on the same machine: what the machine lacks, the stranger waits for, too. So the processor time that the node's event
 * loop spends from one turn to the next is counted beside it; of that the stranger waits for two at most. It ends with 1 where the stranger
 * waited for longer than 50 ms at the 99th percentile, or the producer missed a block.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { WebSocket as Socket } from 'ws'
import { MAX_CHANNELS, SUBSCRIPTION_LIMITS } from '../../src/base/bounds.ts'
import { utf8 } from '../../src/base/bytes.ts'
import { secp256k1Address } from '../../src/types/address.ts'
import { startNode } from '../runtimes/nodeProcess.ts'
import { processorMs } from '../support/processorTime.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import type { LoopTurns } from './loopTurns.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    actors: { type: 'string', default: '1000' },
    role: { type: 'string' },
    url: { type: 'string' },
    /** Only calls whose name contains this. */
    only: { type: 'string', default: '' },
    /** Of the callers' token; without it they have none. */
    permission: { type: 'string' },
    token: { type: 'string', default: '' },
    param: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const BLOCK_SECONDS = 4
/** Of each dear question at any time. */
const CONNECTIONS = 12
/** In which all of them have begun. */
const OPENING_SECONDS = 10
/** Between two questions of the stranger, ms. */
const PAUSE_MS = 20
/** Longest that it may wait at the 99th percentile, ms. */
const BEARABLE_MS = 50

function ask(url: string, agent: Agent, method: string, params: readonly unknown[]): Promise<number> {
  return post(url, agent, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
}

function post(url: string, agent: Agent, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const token = values.token === '' ? {} : { Authorization: `Bearer ${values.token}` }
    const headers = { 'Content-Length': body.length, ...token }
    const call = request(`${url}/rpc/v1`, { agent, method: 'POST', headers })
    call.on('response', (response) => {
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.resume()
    })
    call.on('error', reject)
    call.end(body)
  })
}

/** Asks for the head again and again. */
async function stranger(url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  const end = performance.now() + 1000 * seconds
  while (performance.now() < end) {
    const began = performance.now()
    await ask(url, agent, 'Filecoin.ChainHead', [])
    times.push(performance.now() - began)
    await sleep(PAUSE_MS)
  }
  times.sort((a, b) => a - b)
  const share = (part: number): number => times[Math.floor(times.length * part)] ?? 0
  const at = (part: number): string => `${share(part).toFixed(1)} ms`
  console.log(
    `ChainHead, ${times.length} times: median ${at(0.5)}, 99th percentile ${at(0.99)}, longest ${at(1 - 1e-9)}`,
  )
  agent.destroy()
  if (share(0.99) > BEARABLE_MS) process.exitCode = 1
}

/** Requests of a batch: with their answers it has the bound of an answer, and refusals behind. */
const BATCHED = 20_000

/** As many as may listen, of both kinds, by as many addresses as that takes. @returns how many do */
async function listeners(url: string): Promise<number> {
  const { all, perAddress } = SUBSCRIPTION_LIMITS
  let answered = 0
  let open = 0
  const connections = Array.from({ length: all / MAX_CHANNELS }, async (_, i) => {
    const localAddress = `127.0.1.${Math.floor((i * MAX_CHANNELS) / perAddress) + 1}`
    const socket = new Socket(`${url.replace('http', 'ws')}/rpc/v1`, { localAddress })
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
    await new Promise<void>((resolve) => {
      let left = MAX_CHANNELS
      socket.on('message', (data) => {
        // Events are told apart by their beginning: they are many.
        const text = String((data as Buffer).subarray(0, 60))
        if (left === 0 || text.includes('xrpc') || text.includes('eth_subscription')) return
        answered++
        if (text.includes('"id"') && !text.includes('"error"')) open++
        if (--left === 0) resolve()
      })
      for (let id = 0; id < MAX_CHANNELS; id++) {
        const call =
          id % 2 === 0
            ? { method: 'Filecoin.ChainNotify', params: [] }
            : { method: 'eth_subscribe', params: ['newHeads'] }
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...call }))
      }
    })
  })
  await Promise.all(connections)
  return open === answered ? open : -open
}

/** All that is dear, of which no call needs a token. */
function dearCalls(target: Answer): Record<string, readonly unknown[]> {
  const { message, tipset, sender, recipient } = target
  return {
    'Filecoin.StateCompute': [tipset.height + 100, [], tipset.key],
    'Filecoin.StateReplay': [tipset.key, message],
    'Filecoin.StateListActors': [[]],
    'Filecoin.StateListMiners': [[]],
    'Filecoin.StateListMessages': [{ From: sender }, [], 0],
    'Filecoin.GasEstimateMessageGas': [{ From: sender, To: recipient, Value: '1' }, null, []],
    'Filecoin.WalletVerify': [sender, 'AQIDBA==', { Type: sender.startsWith('t3') ? 2 : 1, Data: 'A'.repeat(128) }],
    eth_getLogs: [{ fromBlock: '0x0', toBlock: 'latest' }],
    eth_call: [{ data: '0x5b5a50600056' }, 'latest'],
  }
}

async function callers(url: string, target: Answer): Promise<void> {
  const end = performance.now() + 1000 * seconds
  const counts: Record<string, Record<number, number>> = {}
  const count = (method: string, status: number): void => {
    const statuses = counts[method] ?? {}
    counts[method] = statuses
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  const wanted = Object.entries(dearCalls(target)).filter(([method]) => method.includes(values.only))
  const work = wanted.flatMap(([method, params]) =>
    Array.from({ length: CONNECTIONS }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      while (performance.now() < end) {
        const status = await ask(url, agent, method, params).catch(() => 0)
        count(method, status)
      }
      agent.destroy()
    }),
  )
  // A snapshot of the whole chain, over and over; two are served at once.
  const exports = Array.from({ length: 'ChainExport'.includes(values.only) ? 4 : 0 }, async () => {
    while (performance.now() < end) {
      await new Promise<void>((resolve) => {
        const socket = new WebSocket(`${url.replace('http', 'ws')}/rpc/v1`)
        const params = [100_000, false, []]
        socket.onopen = () =>
          socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Filecoin.ChainExport', params }))
        socket.onmessage = ({ data }) => {
          if (String(data).includes('xrpc.ch.close') || String(data).includes('"error"')) socket.close()
        }
        socket.onclose = () => resolve()
        socket.onerror = () => resolve()
        setTimeout(() => socket.close(), Math.max(0, end - performance.now()))
      })
      count('ChainExport', 200)
      await sleep(10)
    }
  })
  if ('ChainNotify'.includes(values.only)) console.log(`${await listeners(url)} listen`)
  const batch = JSON.stringify(
    Array.from({ length: BATCHED }, () => ({ jsonrpc: '2.0', id: 1, method: 'rpc.discover', params: [] })),
  )
  const batches = Array.from({ length: 'batch'.includes(values.only) ? 2 : 0 }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (performance.now() < end) count('batch', await post(url, agent, batch).catch(() => 0))
    agent.destroy()
  })
  await Promise.race([
    Promise.all([...work, ...exports, ...batches, sleep(Math.max(0, end - performance.now()))]),
    sleep(1000 * seconds + 500),
  ])
  console.log(`answers by HTTP status: ${JSON.stringify(counts)}`)
  process.exit(0)
}

function residentMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
}

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'petrel-cost-'))
  const args = ['devnet', '--api', '0', '--block-time', String(BLOCK_SECONDS), '--actors', 'native']
  const turnsFile = join(home, 'turns.json')
  process.env.PETREL_TURNS_FILE = turnsFile
  process.env.NODE_OPTIONS = `--import ${join(import.meta.dirname, 'loopTurns.ts')}`
  const node = await startNode('node', home, [...args, '--accounts', '40'])
  process.env.NODE_OPTIONS = ''
  const turns = async (): Promise<string> => {
    rmSync(turnsFile, { force: true })
    process.kill(node.pid, 'SIGUSR2')
    while (!existsSync(turnsFile)) await sleep(10)
    await sleep(50)
    const { count, p99, p999, longest }: LoopTurns = JSON.parse(readFileSync(turnsFile, 'utf8'))
    const ms = (one: number): string => one.toFixed(1)
    return `processor time of a turn of the loop, ${count} of them: 99 % ${ms(p99)}, 99.9 % ${ms(p999)}, longest ${longest.map(ms).join(' ')} ms`
  }
  const rpc = new RpcClient(node.url, node.token)
  const accounts: { Address: string }[] = await rpc.call('DevnetAccounts')
  const [sender, recipient] = [accounts[0]?.Address, accounts.at(-1)?.Address]
  const { CID: message } = await rpc.call('MpoolPushMessage', { From: sender, To: recipient, Value: '1' }, null)
  const { TipSet: key, Height: height } = await rpc.call('StateWaitMsg', message, 1, -1, false)
  const target = { message, tipset: { key: key, height: height }, sender, recipient }
  const { TipSet: parents } = await rpc.call('StateSearchMsg', [], message, -1, true)
  target.tipset.key = (await rpc.call('ChainGetTipSet', parents)).Blocks[0].Parents
  await makeActors(rpc, accounts, Number(values.actors))
  const quietMb = residentMb(node.pid)
  // As Go writes bytes.
  const made: string = values.permission === undefined ? '' : await rpc.call('AuthNew', [values.permission])
  const token = Buffer.from(made, 'base64').toString()
  /** @returns whether it ended well */
  const child = (role: string): Promise<boolean> => {
    const options = [
      '--role',
      role,
      '--url',
      node.url,
      '--seconds',
      String(seconds),
      '--param',
      JSON.stringify(target),
      '--only',
      values.only,
      ...(role === 'callers' ? ['--token', token] : []),
    ]
    const started = spawn(process.execPath, [import.meta.filename, ...options], { stdio: 'inherit' })
    return new Promise((resolve) => started.on('exit', (code) => resolve(code === 0)))
  }
  console.log(
    `${(await rpc.call('StateListActors', [])).length} actors, load ${readFileSync('/proc/loadavg', 'utf8').slice(0, 14)}; quiet:`,
  )
  await turns()
  await child('stranger')
  console.log(await turns())
  const [before, cpu] = [await rpc.call('ChainHead'), processorMs(node.pid)]
  const began = Date.now()
  console.log('under attack:')
  const attack = Promise.all([child('stranger'), child('callers')])
  await sleep(1000 * Math.min(OPENING_SECONDS, seconds / 2))
  console.log(`as they come: ${await turns()}`)
  await sleep(1000 * Math.max(0, seconds - Math.min(OPENING_SECONDS, seconds / 2) - 2))
  console.log(`then: ${await turns()}`)
  const [wasAnswered] = await attack
  console.log(`as they go: ${await turns()}`)
  const after = await rpc.call('ChainHead')
  const due = Math.floor((Date.now() - began) / 1000 / BLOCK_SECONDS)
  const nulls = await nullRounds(rpc, before.Height, after)
  console.log(`${after.Height - before.Height} epochs of ${due}, ${nulls} without a block`)
  if (!wasAnswered || nulls > 0) process.exitCode = 1
  console.log(
    `processor time of the node ${processorMs(node.pid) - cpu} ms; memory ${quietMb} MB before, ${residentMb(node.pid)} after`,
  )
  await node.stop()
  rmSync(home, { recursive: true, force: true })
}

/** Sends to addresses that nobody has: each is an actor then. */
async function makeActors(rpc: RpcClient, accounts: readonly { Address: string }[], count: number): Promise<void> {
  const senders = accounts.map(({ Address }) => Address).filter((one) => one.startsWith('t1'))
  const gas = { GasLimit: 3_000_000, GasFeeCap: '1000000000', GasPremium: '1000' }
  let last: Answer
  for (let at = 0; at < count; at += 200) {
    const batch = Array.from({ length: Math.min(200, count - at) }, (_, i) => ({
      ...{
        Version: 0,
        From: senders[i % senders.length],
        To: addressFromText(at + i),
        Value: '1',
        Method: 0,
        Nonce: 0,
      },
      ...{ Params: null, ...gas },
    }))
    last = (await rpc.call('MpoolBatchPushMessage', batch, null)).at(-1)
  }
  if (last !== undefined) await rpc.call('StateWaitMsg', last.CID, 0, -1, false)
}

function addressFromText(n: number): string {
  return String(secp256k1Address(utf8(`attack ${n}`.padEnd(65, ' ')))).replace(/^f/, 't')
}

async function nullRounds(rpc: RpcClient, from: number, head: Answer): Promise<number> {
  let nulls = 0
  for (let tipset = head; tipset.Height > from; ) {
    const parent = await rpc.call('ChainGetTipSet', tipset.Blocks[0].Parents)
    nulls += tipset.Height - parent.Height - 1
    tipset = parent
  }
  return nulls
}

if (values.role === 'stranger') await stranger(values.url as string)
else if (values.role === 'callers') await callers(values.url as string, JSON.parse(values.param as string))
else await main()
