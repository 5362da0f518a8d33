/**
 * A node on a generated state and chain: how long it takes to the first answer from each form of a snapshot, what
 * questions take whose answers grow with the state, what executing a full tipset takes, how it starts after kill -9, how it follows the chain.
 *
 *     npm run generate -- mainnet-size <folder> --scale 0.1 --epochs 12
 *     node test/bench/mainnetSize.bench.ts <folder> [part of a name]…      all parts: forms queries replay validation restart pool
 *                                                                          following headers paced keeping
 *
 * Times are elapsed, and the node's processor time where that says more on a machine that others use; its load stands before them.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { request } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { openFileSource } from '../../platform/server/fileSource.ts'
import { findNetwork } from '../../platform/server/networkFiles.ts'
import { openGenerated } from '../../scripts/generate/mainnetSize/chain.ts'
import { CHAIN_FILE, NETWORK_FILE, SNAPSHOT_FILES } from '../../scripts/generate/mainnetSize/files.ts'
import { carSections, readCarHeader } from '../../src/archive/car.ts'
import { BlockMessageReader } from '../../src/chain/blockMessages.ts'
import { readAhead, readExactly } from '../../src/codec/byteSource.ts'
import { networkBeacons } from '../../src/consensus/drandBeacon.ts'
import { validateBlock } from '../../src/consensus/validateBlock.ts'
import { mockWinningPoSt } from '../../src/consensus/winningPoSt.ts'
import { blake2b256 } from '../../src/crypto/blake2b.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { poolPrices } from '../../src/mempool/poolChain.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { ACTORS } from '../support/actors.ts'
import { processorMs } from '../support/processorTime.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { measureFollowing } from './mainnetFollowing.ts'
import { measureKeeping } from './mainnetKeeping.ts'
import { measurePaced } from './mainnetPaced.ts'
import { measurePool } from './mainnetPool.ts'

const MEGA = 1e6
const ASKED = 400
const AGAIN = 50
/** Newest tipsets that are validated. */
const VALIDATED = 60
const FIRST_ID = 1000
const POLL_MS = 20

const [folder, ...wanted] = process.argv.slice(2)
if (folder === undefined) throw new RangeError('usage: mainnetSize.bench.ts <folder> [part]…')
const files = folder

function report(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(62)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)} ${unit}`)
}

/** Resident and highest resident memory, MB. */
function memory({ pid }: NodeProcess): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kib = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0)
  return { now: kib('VmRSS') / 1024, peak: kib('VmHWM') / 1024 }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

const network = findNetwork(join(files, NETWORK_FILE))
const home = mkdtempSync(join(tmpdir(), 'petrel-mainnet-size-'))

function start(name: string, at: string, args: readonly string[] = ['--no-net']): Promise<NodeProcess> {
  const repo = join(home, at)
  // With what was compiled before, as on a machine that ran a node.
  if (!existsSync(repo)) {
    mkdirSync(repo)
    if (existsSync(ACTORS)) symlinkSync(ACTORS, join(repo, 'actors'))
  }
  const snapshot = ['--network', join(files, NETWORK_FILE), '--snapshot', join(files, name)]
  return startNode('node', repo, ['daemon', ...snapshot, '--api', '0', ...args], 240_000)
}

async function ask(node: NodeProcess, method: string, ...params: unknown[]): Promise<unknown> {
  return (await new RpcClient(node.url, node.token).call(method, ...params)) as unknown
}

/** One call: when its first byte comes, when its last, how many there are, how long a ChainHead waited meanwhile. */
function measured(
  node: NodeProcess,
  method: string,
  params: unknown[],
): Promise<Record<'first' | 'all' | 'bytes' | 'wait', number>> {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    let first = 0
    let bytes = 0
    let wait = 0
    let open = true
    const watch = async (): Promise<void> => {
      while (open) {
        const before = performance.now()
        await ask(node, 'ChainHead')
        wait = Math.max(wait, performance.now() - before)
        await new Promise((next) => setTimeout(next, POLL_MS))
      }
    }
    const watching = watch()
    const headers = { authorization: `Bearer ${node.token}` }
    const call = request(`${node.url}/rpc/v1`, { method: 'POST', headers }, (response) => {
      response.on('data', (chunk: Buffer) => {
        if (bytes === 0) first = performance.now() - started
        bytes += chunk.length
      })
      response.on('end', () => {
        const all = performance.now() - started
        open = false
        watching.then(() => resolve({ first, all, bytes, wait }), reject)
      })
      response.on('error', reject)
    })
    call.on('error', reject)
    call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params }))
  })
}

/** Resolves when a state can be read. */
async function indexed(node: NodeProcess): Promise<void> {
  for (;;) {
    const { error } = await new RpcClient(node.url, node.token).raw('StateGetActor', [`t0${FIRST_ID}`, []])
    if (error === undefined) return
    if (!String(error.message).includes('indexed')) throw new Error(error.message)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

async function forms(): Promise<void> {
  const source = openFileSource(join(files, SNAPSHOT_FILES.car))
  const size = statSync(join(files, SNAPSHOT_FILES.car)).size / MEGA
  const ahead = readAhead(source)
  const before = performance.now()
  const spent = process.cpuUsage()
  let blocks = 0
  for (const section of carSections({ ...readCarHeader(source), source: ahead })) {
    blake2b256(readExactly(ahead, section.dataOffset, section.dataLength))
    blocks++
  }
  const hashing = (performance.now() - before) / 1000
  const { user, system } = process.cpuUsage(spent)
  const hashingMs = (user + system) / 1000
  source.close()
  report(`BLAKE2b of all ${blocks} blocks, nothing else`, size / hashing, 'MB/s')
  report('  of the processor', hashingMs, 'ms')
  for (const [form, name] of Object.entries(SNAPSHOT_FILES)) {
    const started = performance.now()
    const node = await start(name, `form-${form}`)
    await ask(node, 'ChainHead')
    report(`${form}: from the command to the first answer`, performance.now() - started, 'ms')
    await indexed(node)
    const seconds = (performance.now() - started) / 1000
    report(`${form}: until a state is read`, seconds * 1000, 'ms')
    if (form === 'car') report('car: indexing, start and all, beside plain BLAKE2b', (100 * hashing) / seconds, '%')
    report(`${form}: of the processor`, processorMs(node.pid), 'ms')
    if (form === 'car') report('  the same beside plain BLAKE2b', (100 * hashingMs) / processorMs(node.pid), '%')
    report(`${form}: memory, highest`, memory(node).peak, 'MB')
    await node.stop()
  }
}

async function queries(): Promise<void> {
  const node = await start(SNAPSHOT_FILES.forest, 'queries')
  try {
    const actors =
      Number(((await ask(node, 'StateReadState', 't01', [])) as { State: { NextID: number } }).State.NextID) - FIRST_ID
    const times = async (step: number): Promise<number[]> => {
      const out: number[] = []
      for (let i = 0; i < ASKED; i++) {
        const before = performance.now()
        await ask(node, 'StateGetActor', `t0${FIRST_ID + ((i * step) % actors)}`, [])
        out.push(performance.now() - before)
      }
      return out
    }
    // Until this side's own code is compiled: what a call costs that does nothing.
    const plain: number[] = []
    for (let i = 0; i < 2 * ASKED; i++) {
      const before = performance.now()
      await ask(node, 'Version')
      if (i >= ASKED) plain.push(performance.now() - before)
    }
    report('Version, median: the call itself', median(plain), 'ms')
    let used = processorMs(node.pid)
    const each = (): number => {
      const since = used
      used = processorMs(node.pid)
      return (used - since) / ASKED
    }
    const cold = await times(7919)
    report(`StateGetActor of ${ASKED} actors among ${actors}: cold, median`, median(cold), 'ms')
    report('  the slowest', Math.max(...cold), 'ms')
    report('  of the processor, each', each(), 'ms')
    report('  again, median', median(await times(7919)), 'ms')
    report('  of the processor, each', each(), 'ms')
    for (const [method, ...params] of [
      ['StateListMiners', []],
      ['StateMinerDeadlines', `t0${FIRST_ID}`, []],
      ['StateMinerSectors', `t0${FIRST_ID}`, null, []],
      ['StateListActors', []],
      ['StateMarketDeals', []],
    ] as [string, ...unknown[]][]) {
      const before = processorMs(node.pid)
      const { first, all, bytes, wait } = await measured(node, method, params)
      report(`${method}: first byte`, first, 'ms')
      report('  whole', all, 'ms')
      report('  of the processor, with the questions beside it', processorMs(node.pid) - before, 'ms')
      report('  answer', bytes / MEGA, 'MB')
      report('  ChainHead beside it, longest', wait, 'ms')
      report('  memory, highest so far', memory(node).peak, 'MB')
    }
  } finally {
    await node.kill()
  }
}

async function replay(): Promise<void> {
  const node = await start(CHAIN_FILE, 'replay')
  try {
    const head = (await ask(node, 'ChainHead')) as { Height: number; Blocks: { Parents: unknown[] }[]; Cids: unknown[] }
    const inBase = (await ask(node, 'ChainGetParentMessages', head.Cids[0])) as { Cid: unknown }[]
    const middle = Math.floor(inBase.length / 2)
    const message = inBase[middle]?.Cid
    const replayed = async (one: unknown): Promise<number> => {
      const before = performance.now()
      await ask(node, 'StateReplay', [], one)
      return performance.now() - before
    }
    let used = processorMs(node.pid)
    report(`StateReplay of one of ${inBase.length} messages: cold, a new process`, await replayed(message), 'ms')
    report('  of the processor', processorMs(node.pid) - used, 'ms')
    const again: number[] = []
    for (let i = 0; i < AGAIN; i++) again.push(await replayed(message))
    report('  again, median', median(again), 'ms')
    used = processorMs(node.pid)
    report('  another one of the tipset: all are executed', await replayed(inBase[middle + 1]?.Cid), 'ms')
    report('  of the processor', processorMs(node.pid) - used, 'ms')
    report('  a third', await replayed(inBase[middle + 2]?.Cid), 'ms')
    const plain: number[] = []
    for (let i = 0; i < AGAIN; i++) {
      const before = performance.now()
      await ask(node, 'Version')
      plain.push(performance.now() - before)
    }
    report('  beside it: Version, median', median(plain), 'ms')
    const before = performance.now()
    await ask(node, 'StateSearchMsg', [], message, -1, true)
    report('StateSearchMsg of it', performance.now() - before, 'ms')
    report('memory', memory(node).now, 'MB')
  } finally {
    await node.kill()
  }
}

async function validation(): Promise<void> {
  // As the machine's threads have it.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  const chain = await openGenerated(files, network)
  try {
    const { view, vm } = chain
    const prices = poolPrices(view)
    const deps = {
      view,
      beaconAt: networkBeacons(network, firstBlock(view.store.genesis()).timestamp),
      winningPoSt: mockWinningPoSt,
      nowMs: () => Date.now(),
      minimumGas: (epoch: number, length: number) => prices.total(epoch, length),
    }
    const tipsets: Tipset[] = []
    for (let at = view.store.head(); at.height > 0 && tipsets.length < VALIDATED; at = view.store.parent(at))
      tipsets.unshift(at)
    const reader = new BlockMessageReader(chain.blocks)
    const took: number[] = []
    const processor: number[] = []
    for (const tipset of tipsets) {
      const base = view.store.parent(tipset)
      const before = performance.now()
      const { user, system } = process.cpuUsage()
      const baseResult = await vm.executeTipset(base)
      for (const header of tipset.blocks)
        validateBlock({ header, messages: reader.messages(header), base, baseResult }, deps)
      const ms = performance.now() - before
      const spent = process.cpuUsage()
      processor.push((spent.user + spent.system - user - system) / 1000)
      const messages = base.blocks.reduce((sum, block) => {
        if (base.height === 0) return 0
        const { bls, signed } = reader.messages(block)
        return sum + bls.length + signed.length
      }, 0)
      took.push(ms)
      if (took.length <= 3)
        report(`validated: a tipset on one of ${messages} messages (the ${took.length}. of a process)`, ms, 'ms')
    }
    report(`validated: median of ${took.length}`, median(took), 'ms')
    report('  of the processor', median(processor), 'ms')
    report('  the slowest', Math.max(...took), 'ms')
    report('memory', process.memoryUsage.rss() / MEGA, 'MB')
  } finally {
    await chain.close()
  }
}

async function restart(): Promise<void> {
  const name = existsSync(join(files, CHAIN_FILE)) ? CHAIN_FILE : SNAPSHOT_FILES.forest
  let node = await start(name, 'replay')
  await ask(node, 'ChainHead')
  await node.kill()
  const before = performance.now()
  node = await start(name, 'replay')
  await ask(node, 'ChainHead')
  report('start after kill -9: to the first answer', performance.now() - before, 'ms')
  report('  of the processor', processorMs(node.pid), 'ms')
  await ask(node, 'StateGetActor', `t0${FIRST_ID}`, [])
  report('  until a state is read', performance.now() - before, 'ms')
  await node.kill()
}

function pool(): Promise<void> {
  const { scale } = JSON.parse(readFileSync(join(files, 'made.json'), 'utf8')) as { scale: number }
  return measurePool(files, scale, network, report)
}

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  ...{ forms, queries, replay, validation, restart, pool },
  following: () => measureFollowing(start, report, ['execute']),
  headers: () => measureFollowing(start, report, ['headers']),
  paced: () => measurePaced(start, report),
  keeping: () => measureKeeping(start, report),
}

await initCrypto()
try {
  for (const [name, part] of Object.entries(PARTS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    console.log(
      `# ${name}; load ${loadavg()
        .map((one) => one.toFixed(1))
        .join(' ')}`,
    )
    await part()
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
