/**
 * One tipset full of messages, and nodes that follow it: a producer, a follower that executes, one of headers. What is
 * measured: how long each takes to have it, whether it loses or bans a peer meanwhile, its memory, and how long it leaves
 * a question waiting.
 *
 *     node test/network/bigTipset.ts [--messages <n>] [--miners <n>]
 *
 * Every miner makes a block: elections are held beforehand, and null rounds lead to the epoch in which all win. So many messages
 * wait in the pool; each block takes as many of them as its gas and the network's limit (10,000) allow.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { mockBeaconEntries } from '../../src/consensus/beacon.ts'
import { runElection } from '../../src/consensus/election.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { computeVrf } from '../../src/crypto/vrf.ts'
import type { Producer } from '../../src/devnet/blocks.ts'
import { devnetOptions } from '../../src/devnet/options.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { createDevnetPlan } from '../../src/devnet/plan.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import type { BeaconEntry } from '../../src/types/blockHeader.ts'
import { BLOCK_MESSAGE_LIMIT } from '../../src/types/protocol.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { signedBy } from '../support/devnetNode.ts'
import { freePort } from '../support/freePort.ts'

/** Pending messages of one sender that a pool takes, with a margin. */
const PER_SENDER = 500
/** Epochs among which one is looked for that every miner wins: those that the clock is past already. */
const PAST_EPOCHS = 400
const BLOCK_TIME_SECS = 4
/** Gas of a block. */
const BLOCK_GAS = 10_000_000_000n
const BATCH = 250
const FOLLOW_MS = 120_000

interface Head {
  readonly Cids: readonly { readonly '/': string }[]
  readonly Height: number
}

/** What a follower did. */
export interface FollowerReport {
  readonly mode: 'execute' | 'headers'
  /** From the block's making to the head's move; undefined: it did not come. */
  readonly tookMs: number | undefined
  readonly peers: number
  /** Lines of its log that tell of bans, lost peers, blocks given up. */
  readonly complaints: readonly string[]
  readonly residentMb: number
  readonly peakMb: number
  /** Longest that `Version` took. */
  readonly slowestMs: number
}

/** What came of it. */
export interface BigTipsetReport {
  readonly blocks: number
  /** Messages of each block. */
  readonly ofBlocks: readonly number[]
  /** Different ones of all blocks. */
  readonly messages: number
  /** In which the tipset was made. */
  readonly madeMs: number
  readonly bytes: number
  readonly followers: readonly FollowerReport[]
  /** Epochs that the followers had of what was made on top. */
  readonly heightAfter: readonly number[]
}

export interface BigTipsetOptions {
  readonly messages: number
  readonly miners: number
}

class Petrel {
  readonly process: NodeProcess
  constructor(process: NodeProcess) {
    this.process = process
  }

  async call<T>(method: string, ...params: unknown[]): Promise<T> {
    const response = await fetch(`${this.process.url}/rpc/v1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.process.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Node.${method}`, params }),
    })
    const answer = (await response.json()) as { result?: T; error?: { message: string } }
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`)
    return answer.result as T
  }

  async height(): Promise<number> {
    return (await this.call<Head>('ChainHead')).Height
  }

  memory(name: 'VmRSS' | 'VmHWM'): number {
    const text = readStatus(this.process.pid)
    return Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024)
  }
}

function readStatus(pid: number): string {
  return readFileSync(`/proc/${pid}/status`, 'utf8')
}

/** As many transfers as are wanted, by senders of both kinds of signature, ready to be pushed. */
function transfers(accounts: readonly FundedAccount[], count: number): unknown[] {
  const to = accounts[0] as FundedAccount
  const gasLimit = (BLOCK_GAS * 95n) / 100n / BigInt(Math.min(count, BLOCK_MESSAGE_LIMIT))
  return Array.from({ length: count }, (_, i) => {
    const from = accounts[i % accounts.length] as FundedAccount
    const nonce = BigInt(Math.floor(i / accounts.length))
    const signed = signedBy(from, { to: to.address, value: 1n, nonce, gasLimit, gasFeeCap: 2_000_000_000n })
    return signedMessage.toJson(signed, { addressPrefix: 't' })
  })
}

/** Null rounds after `head` up to the epoch that every miner wins. */
function roundsUntilAllWin(miners: readonly Producer[], head: number): number {
  const power = { miner: 1n, network: BigInt(miners.length) }
  for (let epoch = head + 1; epoch < PAST_EPOCHS; epoch++) {
    const { data } = mockBeaconEntries(epoch, epoch - 1)[0] as BeaconEntry
    const wins = (one: Producer): boolean =>
      runElection(data, epoch, one.miner, power, (draw) => computeVrf(draw, one.workerKey)) !== undefined
    if (miners.every(wins)) return epoch - head - 1
  }
  throw new Error(`no epoch before ${PAST_EPOCHS} that all ${miners.length} miners win`)
}

/** Asks every 50 ms, and remembers the longest wait. */
class Watch {
  slowestMs = 0
  #stopped = false
  readonly #done: Promise<void>

  constructor(node: Petrel) {
    this.#done = this.#run(node)
  }

  async #run(node: Petrel): Promise<void> {
    while (!this.#stopped) {
      const began = performance.now()
      await node.call('Version')
      this.slowestMs = Math.max(this.slowestMs, Math.round(performance.now() - began))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#done
  }
}

async function reached(node: Petrel, height: number, timeoutMs: number): Promise<number | undefined> {
  const began = performance.now()
  while (performance.now() - began < timeoutMs) {
    if ((await node.height()) >= height) return Math.round(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return undefined
}

/** Makes the tipset once and has it followed. */
export async function bigTipset({ messages, miners }: BigTipsetOptions): Promise<BigTipsetReport> {
  await initCrypto()
  const folder = mkdtempSync(join(tmpdir(), 'petrel-big-'))
  const running: Petrel[] = []
  const start = async (name: string, args: readonly string[]): Promise<Petrel> => {
    const node = new Petrel(await startNode('node', join(folder, name), args, 120_000))
    running.push(node)
    return node
  }
  try {
    const perKind = Math.ceil(messages / PER_SENDER / 2)
    const p2pPort = await freePort()
    const common = ['--api', '0']
    const producer = await start('producer', [
      'devnet',
      ...common,
      ...['--miners', String(miners), '--accounts', String(perKind), '--block-time', String(BLOCK_TIME_SECS)],
      // The followers' clock must not find a tipset early that was asked for.
      ...['--genesis-time', String(Math.floor(Date.now() / 1000) - (PAST_EPOCHS + 20) * BLOCK_TIME_SECS)],
      ...['--listen', `/ip4/127.0.0.1/tcp/${p2pPort}`],
    ])
    const address = `/ip4/127.0.0.1/tcp/${p2pPort}/p2p/${await producer.call<string>('ID')}`
    await producer.call('DevnetStop')
    const modes = ['execute', 'headers'] as const
    const followers = []
    for (const mode of modes) {
      followers.push(
        await start(mode, [
          'daemon',
          ...['--network', join(folder, 'producer', 'network.json'), '--bootstrap', address, '--validate', mode],
          ...['--listen', '/ip4/127.0.0.1/tcp/0', ...common],
        ]),
      )
    }
    const before = await producer.height()
    for (const node of followers) {
      if ((await reached(node, before, FOLLOW_MS)) === undefined) throw new Error('a follower does not follow')
    }
    const plan = createDevnetPlan(devnetOptions({ accountsPerKind: perKind, miners }), builtinNetwork('devnet'))
    const senders = plan.accounts.filter(({ kind }) => kind !== 'delegated').slice(0, 2 * perKind)
    const pushed = transfers(senders, messages)
    for (let at = 0; at < pushed.length; at += BATCH) {
      await producer.call('MpoolBatchPush', pushed.slice(at, at + BATCH))
    }
    const nullRounds = roundsUntilAllWin(plan.producers, await producer.height())
    const watches = followers.map((node) => new Watch(node))
    const began = performance.now()
    const made = await producer.call<Head>('DevnetMine', 1, { NullRounds: nullRounds })
    const madeMs = Math.round(performance.now() - began)
    const took = await Promise.all(followers.map((node) => reached(node, made.Height, FOLLOW_MS)))
    const counted = await producer.call<{ Cid: { '/': string } }[]>('ChainGetMessagesInTipset', made.Cids)
    // And on top of it: the next ones say whether its state was right.
    const top = await producer.call<Head>('DevnetMine', 3, null)
    await Promise.all(followers.map((node) => reached(node, top.Height, FOLLOW_MS)))
    for (const watch of watches) await watch.stop()
    const ofBlocks = await Promise.all(
      made.Cids.map(async (cid) => {
        const found = await producer.call<{ Cids: unknown[] }>('ChainGetBlockMessages', cid)
        return found.Cids.length
      }),
    )
    return {
      blocks: made.Cids.length,
      ofBlocks,
      madeMs,
      messages: counted.length,
      bytes: JSON.stringify(pushed).length,
      heightAfter: await Promise.all(followers.map(async (node) => (await node.height()) - made.Height)),
      followers: await Promise.all(
        followers.map(async (node, i) => ({
          mode: modes[i] as 'execute' | 'headers',
          tookMs: took[i],
          peers: (await node.call<unknown[]>('NetPeers')).length,
          complaints: node.process
            .output()
            .split('\n')
            .filter((text) => /banned|given up|turned away|sync failed|demerit/.test(text)),
          residentMb: node.memory('VmRSS'),
          peakMb: node.memory('VmHWM'),
          slowestMs: (watches[i] as Watch).slowestMs,
        })),
      ),
    }
  } finally {
    for (const node of running.reverse()) await node.process.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { messages: { type: 'string', default: '5000' }, miners: { type: 'string', default: '1' } },
  })
  const report = await bigTipset({ messages: Number(values.messages), miners: Number(values.miners) })
  console.log(JSON.stringify(report, undefined, 2))
}
