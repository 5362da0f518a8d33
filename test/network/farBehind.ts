/**
 * Followers that were away for more than a finality come back, and reach the head by themselves: started again, cut off while they ran,
 * stopped as a machine that sleeps, with a producer that is killed and started again in the midst of it. The producer keeps as few states
 * as it may: in the later cases those of what the followers lack are collected. What always holds is asserted: health says nothing better
 * than is true, the log tells how far it is, memory is bounded, nobody is banned.
 *
 *     node test/network/farBehind.ts [--epochs <n>] [--only <part of a name>]
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { programArgs } from '../../scripts/programArgs.ts'
import { Cluster, type ClusterNode, type Head } from './cluster.ts'

/** Tipsets that one call makes, with a message of each of so many accounts. */
const BATCH = 50
const ACCOUNTS = 3
/** Epochs of the chain before anybody is away. */
const FIRST_EPOCHS = 10
/** How far followers are on their way when their producer is killed. */
const MIDWAY = 60
/** For a machine that has much else to do. */
const CAUGHT_UP_MS = 600_000
/** What a follower may take beside what it took before, MB. */
const MORE_MB = 250
/** Epochs that a node which is ready may have to go. */
const READY_BEHIND = 1
/** Fewer epochs of state cannot be kept. */
const LEAST_KEPT = '1800'

/** What a follower was seen to do on its way. */
interface Way {
  readonly mode: string
  readonly from: number
  readonly to: number
  readonly tookMs: number
  readonly beforeMb: number
  readonly peakMb: number
  /** What `/health/readyz` said, whenever it said something new. */
  readonly health: readonly string[]
}

const height = async (node: ClusterNode): Promise<number> => (await node.call<Head>('ChainHead')).Height

async function mine(producer: ClusterNode, epochs: number): Promise<void> {
  const accounts = await producer.call<{ Address: string }[]>('DevnetAccounts')
  for (let made = 0; made < epochs; made += BATCH) {
    for (const { Address } of accounts.slice(0, ACCOUNTS)) {
      const gas = { GasLimit: 0, GasFeeCap: '0', GasPremium: '0' }
      const message = { Version: 0, To: Address, From: Address, Nonce: 0, Value: '1', Method: 0, Params: null }
      await producer.call('MpoolPushMessage', { ...message, ...gas }, null)
    }
    await producer.call('DevnetMine', Math.min(BATCH, epochs - made), null)
  }
}

async function health(node: ClusterNode): Promise<{ ok: boolean; text: string }> {
  const response = await fetch(`${node.process?.url}/health/readyz?verbose`)
  return { ok: response.ok, text: (await response.text()).trim().replaceAll('\n', '; ') }
}

/** Follows a node until it has the head and says that it is ready. */
async function watch(node: ClusterNode, head: number, beforeMb: number): Promise<Way> {
  const began = performance.now()
  const told: string[] = []
  let [peakMb, last] = [0, '']
  const from = await height(node)
  for (;;) {
    const { ok, text } = await health(node)
    const at = await height(node)
    const ms = Math.round(performance.now() - began)
    peakMb = Math.max(peakMb, Math.round(node.residentMb()))
    const kind = text.replace(/\d+/g, '#')
    if (kind !== last) told.push(`${ms} ms: ${ok ? 'ready' : 'not ready'}, ${text}`)
    last = kind
    assert.ok(!ok || at >= head - READY_BEHIND, `ready at ${at} of ${head}: ${text}`)
    assert.ok(ms < CAUGHT_UP_MS, `${node.member.validate} is at ${at} of ${head}: ${told.join('\n')}`)
    if (ok && at === head) {
      const mode = String(node.member.validate)
      return { mode, from, to: at, tookMs: ms, beforeMb, peakMb, health: told }
    }
    await sleep(50)
  }
}

/** How followers are away, and how they come back. */
interface Absence {
  readonly away: () => Promise<unknown>
  readonly back: () => Promise<unknown>
}

function absences(cluster: Cluster): Readonly<Record<string, Absence>> {
  const [producer, ...followers] = cluster.nodes as [ClusterNode, ...ClusterNode[]]
  const links = followers.flatMap((node) => [...node.links.values()])
  const cut = async (): Promise<void> => {
    for (const link of links) link.cut()
  }
  const heal = async (): Promise<void> => {
    for (const link of links) link.heal()
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => async (): Promise<void> => {
    for (const node of followers) process.kill(node.process?.pid as number, name)
  }
  const stop = async (): Promise<void> => {
    for (const node of followers) {
      await node.process?.stop()
      node.process = undefined
    }
  }
  const start = async (): Promise<void> => {
    for (const node of followers) await cluster.startNode(node)
  }
  const healAndKill = async (): Promise<void> => {
    const until = MIDWAY + Math.max(...(await Promise.all(followers.map(height))))
    await heal()
    for (const node of followers) while ((await height(node)) < until) await sleep(50)
    await cluster.killNode(producer)
    for (const node of followers) while ((await health(node)).ok) await sleep(50)
    await cluster.startNode(producer)
  }
  return {
    'started again': { away: stop, back: start },
    'cut off': { away: cut, back: heal },
    asleep: { away: signal('SIGSTOP'), back: signal('SIGCONT') },
    'a producer that is killed on the way': { away: cut, back: healAndKill },
  }
}

/** Runs the cases one after the other on one chain. @param only - part of a case's name @throws AssertionError */
export async function farBehind(epochs: number, only: string): Promise<void> {
  const cluster = await Cluster.start({
    members: [
      { runtime: 'node', produce: [0], flags: ['--manual', '--actors', 'native', '--keep-state', LEAST_KEPT] },
      { runtime: 'node', produce: [], validate: 'execute' },
      { runtime: 'node', produce: [], validate: 'headers' },
    ],
    miners: 1,
    blockTimeSec: 1,
    // Null rounds, too: whoever follows refuses blocks of the future.
    pastSec: 10 * (epochs + 100),
    topology: [
      [1, 0],
      [2, 0],
    ],
  })
  const [producer, ...followers] = cluster.nodes as [ClusterNode, ...ClusterNode[]]
  try {
    // One by one: what is gossiped before there are meshes is lost, and a chain that stands still tells nobody of its head.
    for (let low = 0; low < FIRST_EPOCHS; low = Math.min(...(await Promise.all(followers.map(height))))) {
      await mine(producer, 1)
      await sleep(500)
    }
    for (const [name, { away, back }] of Object.entries(absences(cluster))) {
      if (!name.includes(only)) continue
      const beforeMb = followers.map((node) => Math.round(node.residentMb()))
      const seen = followers.map(({ process }) => ({ process, length: process?.output().length ?? 0 }))
      await away()
      await mine(producer, epochs)
      const head = await height(producer)
      console.log(`${name}: head at ${head}`)
      await back()
      const ways = await Promise.all(followers.map((node, i) => watch(node, head, beforeMb[i] as number)))
      for (const [i, way] of ways.entries()) {
        console.log(
          `  ${way.mode}: ${way.from} to ${way.to} in ${way.tookMs} ms, ${way.beforeMb} MB before, ${way.peakMb} at most`,
        )
        for (const text of way.health) console.log(`    ${text}`)
        const { process } = followers[i] as ClusterNode
        const log = process?.output().slice(process === seen[i]?.process ? seen[i]?.length : 0) ?? ''
        for (const line of log.split('\n')) if (/ WARN | ERROR /.test(line)) console.log(`    ${line}`)
        assert.ok(way.peakMb <= way.beforeMb + MORE_MB, `${way.peakMb} MB of ${way.beforeMb} before`)
        assert.ok(!log.includes('peer banned'), 'nobody is banned')
        assert.match(log, /syncing .*epochsLeft=|chain +head height=/)
      }
    }
  } catch (error) {
    for (const { index, process } of cluster.nodes) console.log(`--- node ${index}\n${process?.output().slice(-6000)}`)
    throw error
  } finally {
    for (const { process: child } of followers) if (child !== undefined) process.kill(child.pid, 'SIGCONT')
    await cluster.close()
  }
}

if (import.meta.main) {
  const { values } = programArgs(import.meta.filename, {
    options: { epochs: { type: 'string', default: '1000' }, only: { type: 'string', default: '' } },
  })
  await farBehind(Number(values.epochs), values.only)
  console.log('all came back')
}
