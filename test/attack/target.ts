/** A local chain with honest nodes, one of which is attacked, and what is looked at meanwhile. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { ACTORS } from '../support/actors.ts'
import { RpcClient } from '../support/rpcClient.ts'

/** Seconds of an epoch, where an attack does not say otherwise. */
const BLOCK_SECONDS = 4
const LISTEN = ['--listen', '/ip4/127.0.0.1/tcp/0', '--cache', '64']
/** How long the nodes are left alone before it is looked how much memory they take, ms. */
const QUIET_MS = 4000
/**
 * Beside 1.3 times what an idle node takes: what its bounds let strangers make it hold, MB (docs/security.md, "What peers can make the
 * node hold").
 */
const STATED_MB = 400
/** Epochs that it may be behind. */
const MOST_LAG = 2
/** Final epochs that it may not have heard of: certificates are asked for, each period while there is news. */
const MOST_UNPROVEN = 4

/** A node of the chain. */
export interface Member {
  readonly process: NodeProcess
  readonly rpc: RpcClient
  /** `/ip4/…/tcp/…/p2p/…` */
  readonly address: string
  readonly id: string
}

/** The chain. */
export interface Target {
  readonly folder: string
  readonly producer: Member
  /** Followers beside the one that is attacked. */
  readonly honest: readonly Member[]
  readonly victim: Member
  readonly networkName: string
  readonly blockSeconds: number
  /** Whether the producer votes on what is final. */
  readonly votes: boolean
  /** Ends the attacked one as nobody should, and starts it where it was, told of no peer. @returns the chain with it */
  readonly restart: (target: Target) => Promise<Target>
  /** Memory of the attacked one before the first attack, MB: what came later is no measure. */
  readonly idleMb: number
}

/** What is not as usual. */
export interface TargetOptions {
  /** More for the producer's command line. */
  readonly producing?: readonly string[]
  /** Epochs, for the followers. */
  readonly chainFinality?: number
  /** Seconds of an epoch. */
  readonly blockSeconds?: number
  /** Default: native. */
  readonly actors?: 'native' | 'wasm'
  /** How the attacked one checks blocks. Default: it executes. */
  readonly validate?: string
  /** Whether the producer votes on what is final. Default: where the attacked one is light. */
  readonly votes?: boolean
}

async function member(process: NodeProcess): Promise<Member> {
  const rpc = new RpcClient(process.url, process.token)
  for (;;) {
    const { ID: id, Addrs: addresses } = await rpc.call('NetAddrsListen')
    const tcp = addresses.find((one: string) => /^\/ip4\/127\.0\.0\.1\/tcp\/\d+$/.test(one))
    if (tcp !== undefined) return { process, rpc, id, address: `${tcp}/p2p/${id}` }
    await sleep(50)
  }
}

/**
 * Runs with a chain, and ends its nodes whatever happens.
 * @param honest - followers beside the one that is attacked, which knows them and the producer
 */
export async function withTarget(
  honest: number,
  run: (target: Target) => Promise<void>,
  options: TargetOptions = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-attack-'))
  const started: NodeProcess[] = []
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void Promise.all(started.map((one) => one.kill())).then(() => process.exit(1))
    })
  }
  try {
    await run(await startTarget(folder, started, honest, options))
  } finally {
    for (const one of started.reverse()) await one.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startTarget(
  folder: string,
  started: NodeProcess[],
  honest: number,
  {
    producing = [],
    chainFinality,
    blockSeconds = BLOCK_SECONDS,
    actors = 'native',
    validate = 'execute',
    votes = validate === 'light',
  }: TargetOptions,
): Promise<Target> {
  const start = async (home: string, args: readonly string[]): Promise<Member> => {
    if (actors === 'wasm' && !existsSync(home)) {
      mkdirSync(home)
      symlinkSync(ACTORS, join(home, 'actors'))
    }
    const process = await startNode('node', home, args)
    started.push(process)
    return member(process)
  }
  const home = join(folder, 'producer')
  const chain = ['devnet', '--api', '0', '--block-time', String(blockSeconds), '--actors', actors, ...LISTEN]
  const producer = await start(home, [...chain, ...producing, ...(votes ? ['--f3', '10'] : [])])
  // A light node begins where something is final.
  while (votes && (await finalEpoch(producer)) === undefined) await sleep(200)
  const network = networkOf(home, chainFinality)
  const follow = async (name: string, known: readonly Member[], more: readonly string[] = []): Promise<Member> => {
    const bootstrap = known.flatMap(({ address }) => ['--bootstrap', address])
    const daemon = ['daemon', '--network', network, ...bootstrap, '--api', '0', ...LISTEN]
    return start(join(folder, name), [...daemon, ...more])
  }
  const others: Member[] = []
  for (let i = 0; i < honest; i++) others.push(await follow(`honest-${i}`, [producer]))
  const webSocket = ['--listen', '/ip4/127.0.0.1/tcp/0/ws']
  const victim = await follow('victim', [producer, ...others], ['--validate', validate, ...webSocket])
  const networkName: string = await victim.rpc.call('StateNetworkName')
  const restart = async (target: Target): Promise<Target> => {
    await target.victim.process.kill()
    const [where] = target.victim.address.split('/p2p/') as [string]
    const again = [
      'daemon',
      '--network',
      network,
      '--api',
      '0',
      '--listen',
      where,
      '--cache',
      '64',
      '--validate',
      validate,
    ]
    return { ...target, victim: await start(join(folder, 'victim'), again) }
  }
  const target = { folder, producer, honest: others, victim, networkName, blockSeconds, votes, restart }
  while ((await lagOf(target)) > 1) await sleep(200)
  await sleep(QUIET_MS)
  return { ...target, idleMb: ownMb(victim) }
}

/** The epoch that the newest certificate that a node has makes final. */
async function finalEpoch({ rpc }: Member): Promise<number | undefined> {
  if (!(await rpc.call('F3IsRunning'))) return undefined
  const newest = await rpc.call('F3GetLatestCertificate')
  return newest?.ECChain.at(-1).Epoch
}

/**
 * The network of the followers. F3's protocols are spoken where the network has F3; where nobody votes there are no certificates.
 * @returns its file
 */
function networkOf(home: string, chainFinality: number | undefined): string {
  const { digest, ...network } = JSON.parse(readFileSync(join(home, 'network.json'), 'utf8'))
  assert.equal(typeof digest, 'string')
  const path = join(home, 'followers.json')
  const protocol = { ...network.protocol, ...(chainFinality === undefined ? {} : { chainFinality }) }
  writeFileSync(path, JSON.stringify({ ...network, protocol, f3: { ...network.f3, enabled: true } }))
  return path
}

/** Tipsets of the producer's chain above a height: an epoch without blocks is no lag. */
export async function lagBehind(producer: RpcClient, height: number): Promise<number> {
  let made = await producer.call('ChainHead')
  let lag = 0
  for (; made.Height > height; lag++) made = await producer.call('ChainGetTipSet', made.Blocks[0].Parents)
  return lag
}

/** Tipsets of the producer's chain above the attacked one's head. */
export async function lagOf({ producer, victim }: Pick<Target, 'producer' | 'victim'>): Promise<number> {
  return lagBehind(producer.rpc, (await victim.rpc.call('ChainHead')).Height)
}

/** Epochs by which what the producer has made final lies above what the attacked one knows to be final; 0 where nobody votes. */
async function unprovenOf({ producer, victim, votes }: Target): Promise<number> {
  const made = votes ? await finalEpoch(producer) : undefined
  return made === undefined ? 0 : made - ((await finalEpoch(victim)) ?? 0)
}

/** Memory of the process itself, MB. */
function ownMb({ process }: Member): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8')
  return Math.round(Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
}

/** Bytes that came in by each protocol. */
async function receivedOf({ rpc }: Member): Promise<ReadonlyMap<string, number>> {
  const stats: Record<string, { TotalIn: number }> = await rpc.call('NetBandwidthStatsByProtocol')
  return new Map(Object.entries(stats).map(([name, { TotalIn }]) => [name, TotalIn]))
}

/** What was seen while an attack ran. */
export interface Seen {
  readonly idleMb: number
  readonly mostMb: number
  readonly afterMb: number
  readonly mostLag: number
  /** Epochs. */
  readonly mostUnproven: number
  readonly mostPeers: number
  readonly handles: number
  /** Bytes that the attacked one received, by protocol. */
  readonly received: ReadonlyMap<string, number>
  /** The attacker's last line of output, which is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each attack counts what it does
  readonly counts: any // oxlint-disable-line typescript/no-explicit-any
}

/** A process that attacks. */
export interface Attacker {
  /** All that it said so far. */
  output(): string
  isRunning(): boolean
  stop(): void
}

/** Starts `node <file> --child …`. */
export function startAttacker(file: string, args: readonly string[]): Attacker {
  const child = spawn(process.execPath, [file, '--child', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8')
  })
  let running = true
  child.on('exit', () => {
    running = false
  })
  return { output: () => output, isRunning: () => running, stop: () => void child.kill('SIGKILL') }
}

/**
 * Runs `node <file> --child …` as the attacker, looks at the attacked node all the while, and asserts what always holds: it follows,
 * it keeps its honest peers and bans none, its memory is bounded.
 * @param moreMb - that its bounds let strangers make it hold in this attack, beside what they always do
 */
export async function attack(target: Target, file: string, args: readonly string[], moreMb = 0): Promise<Seen> {
  const { victim, producer, honest, idleMb, blockSeconds } = target
  const before = await receivedOf(victim)
  const attacker = startAttacker(file, args)
  let [mostMb, mostLag, mostPeers, mostUnproven] = [idleMb, 0, 0, 0]
  while (attacker.isRunning()) {
    await sleep(300)
    mostMb = Math.max(mostMb, ownMb(victim))
    mostLag = Math.max(mostLag, await lagOf(target))
    mostUnproven = Math.max(mostUnproven, await unprovenOf(target))
    mostPeers = Math.max(mostPeers, (await victim.rpc.call('NetPeers')).length)
  }
  const received = new Map(
    [...(await receivedOf(victim))].map(([name, bytes]) => [name, bytes - (before.get(name) ?? 0)]),
  )
  await sleep(1000 * blockSeconds)
  const peers: { ID: string }[] = await victim.rpc.call('NetPeers')
  const [endLag, afterMb] = [await lagOf(target), ownMb(victim)]
  const counts = JSON.parse(attacker.output().trim().split('\n').at(-1) ?? '{}')
  const handles = readdirSync(`/proc/${victim.process.pid}/fd`).length
  const seen = { idleMb, mostMb, afterMb, mostLag, mostUnproven, mostPeers, handles, received, counts }
  console.log(
    `  ${idleMb} MB idle, ${mostMb} at most, ${afterMb} after; lag ${mostLag} at most, ${endLag} after; ${mostUnproven} final epochs unproven at most; ${mostPeers} peers at most; ${handles} handles after`,
  )
  console.log(`  attacker: ${JSON.stringify(counts)}`)
  for (const { id } of [producer, ...honest]) {
    assert.ok(
      peers.some(({ ID }) => ID === id),
      'every honest peer is still connected',
    )
    assert.ok(
      !victim.process
        .output()
        .split('\n')
        .some((line) => line.includes('peer banned') && line.includes(id)),
      'no honest peer is banned',
    )
  }
  assert.ok(mostLag <= MOST_LAG && endLag <= MOST_LAG, `${mostLag} tipsets behind, ${endLag} after`)
  assert.ok(mostUnproven <= MOST_UNPROVEN, `${mostUnproven} final epochs unproven`)
  assert.ok(mostMb <= 1.3 * idleMb + STATED_MB + moreMb, `${mostMb} MB of ${idleMb} idle`)
  return seen
}
