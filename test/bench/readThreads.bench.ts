/**
 * Requests a second of a local chain's node that goes on making blocks, without and with threads that answer reads (`--rpc-threads`);
 * how many of a dear kind are answered to a client that has more of them under way than it may; and how long a `ChainHead` waits while
 * another client has a heavy question asked without end.
 *
 *     node test/bench/readThreads.bench.ts [threads, default 1] [--share 0.3]
 *
 * The client is on the same processors and takes what threads would: its share of them is printed, and how many requests the node answers
 * for each second of its own processor time. Where that stays the same, two free processors answer twice as many. With `--share` (as root,
 * where the kernel has version 1 of its control groups) the node's own thread and those for reads may each take so much of a processor, as
 * if that were all there is of one, so that the client takes nothing from them.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { Pipelined } from '../support/pipelined.ts'
import { processorMs } from '../support/processorTime.ts'
import { RpcClient } from '../support/rpcClient.ts'

/** With ten questions on each: an address without a token may have 128 dear ones under way. */
const CONNECTIONS = 12
/** So many that most of its questions are too many. */
const CONNECTIONS_ABOVE = 32
/** Until connections are shared out and code is compiled. */
const WARM_MS = 5000
const MEASURED_MS = 4000
const HEADS = 1000

const PERIOD_US = 10_000
const GROUPS = '/sys/fs/cgroup/cpu'
const READS = 'petrel-reads'

const { values, positionals } = parseArgs({ options: { share: { type: 'string' } }, allowPositionals: true })
const [threads = '1'] = positionals
const share = Number(values.share ?? 1)

const QUESTIONS: readonly (readonly [string, unknown[]])[] = [
  ['ChainHead', []],
  ['StateGetActor', ['t01000', null]],
  ['StateMinerInfo', ['t01000', null]],
  ['StateReadState', ['t01000', null]],
  ['EthGetBlockByNumber', ['0x3', true]],
]

const body = (method: string, params: unknown[]): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params })

/** Lets a process's own thread, with all that help it, and each thread for reads take a share of a processor. Ends what it began. */
function holdToShare(pid: number): () => void {
  const groups = new Set<string>()
  const groupOf = (name: string): string => {
    const folder = join(GROUPS, `petrel-bench-${pid}-${name}`)
    if (!groups.has(folder)) {
      mkdirSync(folder)
      writeFileSync(join(folder, 'cpu.cfs_period_us'), String(PERIOD_US))
      writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(Math.round(PERIOD_US * share)))
      groups.add(folder)
    }
    return folder
  }
  const tasks = `/proc/${pid}/task`
  const place = (): void => {
    for (const task of readdirSync(tasks)) {
      const isForReads = readFileSync(join(tasks, task, 'comm'), 'latin1').trim() === READS
      writeFileSync(join(groupOf(isForReads ? task : 'node'), 'tasks'), task)
    }
  }
  place()
  // Threads for reads start when there is much to answer.
  const timer = setInterval(place, 500)
  return () => {
    clearInterval(timer)
    for (const folder of groups) {
      for (const task of readFileSync(join(folder, 'tasks'), 'latin1').split('\n').filter(Boolean)) {
        writeFileSync(join(GROUPS, 'tasks'), task)
      }
      rmdirSync(folder)
    }
  }
}

interface Rate {
  readonly perSecond: number
  /** Processors that the client takes. */
  readonly client: number
  /** The same of the node. */
  readonly own: number
}

async function rate(node: NodeProcess, question: string, connections: number = CONNECTIONS): Promise<Rate> {
  const clients = Array.from({ length: connections }, () => new Pipelined(node.url, question))
  await sleep(WARM_MS / share)
  const sum = (): number => clients.reduce((all, { answered }) => all + answered, 0)
  const before = sum()
  const used = process.cpuUsage()
  const usedByNode = processorMs(node.pid)
  await sleep(MEASURED_MS)
  const { user, system } = process.cpuUsage(used)
  const own = (processorMs(node.pid) - usedByNode) / MEASURED_MS
  const perSecond = ((sum() - before) * 1000) / MEASURED_MS
  for (const client of clients) client.close()
  const refused = clients.reduce((all, client) => all + client.refused, 0)
  if (refused > 0 !== connections > CONNECTIONS) throw new Error(`${refused} questions were refused: ${question}`)
  return { perSecond, client: (user + system) / 1000 / MEASURED_MS, own }
}

/** 50th and 99th percentile of what a `ChainHead` waits, ms, one after the other on one connection. */
async function waits(node: NodeProcess): Promise<readonly [number, number]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const head = body('ChainHead', [])
  const times: number[] = []
  for (let i = 0; i < HEADS; i++) {
    const start = performance.now()
    await new Promise<void>((resolve, reject) => {
      const asked = request(`${node.url}/rpc/v1`, { method: 'POST', agent }, (response) =>
        response.resume().on('end', resolve),
      )
      asked.on('error', reject)
      asked.end(head)
    })
    times.push(performance.now() - start)
  }
  agent.destroy()
  times.sort((a, b) => a - b)
  return [times[HEADS >> 1] as number, times[Math.floor(HEADS * 0.99)] as number]
}

const base = new Map<string, Rate>()
for (const count of ['0', threads]) {
  const home = mkdtempSync(join(tmpdir(), 'petrel-read-threads-'))
  const node = await startNode('node', home, [
    'devnet',
    '--api',
    '0',
    '--no-net',
    '--block-time',
    '1',
    '--rpc-threads',
    count,
  ])
  const endShare = values.share === undefined ? () => undefined : holdToShare(node.pid)
  try {
    while (((await new RpcClient(node.url).call('ChainHead')) as { Height: number }).Height < 4) await sleep(200)
    for (const [method, params] of QUESTIONS) {
      const { perSecond, client, own } = await rate(node, body(method, params))
      const one = base.get(method)
      if (one === undefined) base.set(method, { perSecond, client, own })
      const times = (now: number, then: number): string => (now / then).toFixed(2)
      const ratio =
        one === undefined
          ? ''
          : `  ${times(perSecond, one.perSecond)} times, for each second of its processors ${times(perSecond / own, one.perSecond / one.own)}`
      console.log(
        `${count} threads  ${method.padEnd(22)} ${perSecond.toFixed(0).padStart(8)} /s, client ${client.toFixed(2)} processors, node ${own.toFixed(2)}${ratio}`,
      )
    }
    const { perSecond } = await rate(node, body('StateReadState', ['t01000', null]), CONNECTIONS_ABOVE)
    console.log(`${count} threads  StateReadState above the bound ${perSecond.toFixed(0)} /s answered`)
    for (const heavy of ['StateListActors', 'StateCompute']) {
      const params = heavy === 'StateCompute' ? [5, [], null] : [null]
      const clients = [new Pipelined(node.url, body(heavy, params)), new Pipelined(node.url, body(heavy, params))]
      const [median, late] = await waits(node)
      for (const client of clients) client.close()
      console.log(
        `${count} threads  ChainHead beside ${heavy}: median ${median.toFixed(2)} ms, 99th percentile ${late.toFixed(2)} ms`,
      )
    }
  } finally {
    endShare()
    await node.stop()
    rmSync(home, { recursive: true, force: true })
  }
}
