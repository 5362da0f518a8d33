/**
 * Followers whose only line goes dead without a word, as lines do: a firewall forgets its connections, a machine changes its network, a
 * provider is down for a minute. Each must notice by itself, come back to the head, ban nobody and be banned by nobody; what was sent
 * meanwhile arrives.
 *
 *     node test/network/silentLinks.ts [--seconds <of silence>] [--only <part of a name>]
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { programArgs } from '../../scripts/programArgs.ts'
import { Cluster, type ClusterNode, type Head } from './cluster.ts'
import type { LinkProxy } from './linkProxy.ts'

const BLOCK_TIME_SEC = 2
/** Epochs that a follower may be behind its peer and be level with it. */
const LEVEL = 2
/** For a machine that has much else to do. */
const BACK_MS = 300_000
const POLL_MS = 100

const height = async (node: ClusterNode): Promise<number> => (await node.call<Head>('ChainHead')).Height

/** How a line dies. */
interface Silence {
  readonly begin: (link: LinkProxy) => void
  /** Whether it has to be healed: else new connections pass all the while. */
  readonly ends: boolean
}

const SILENCES: Readonly<Record<string, Silence>> = {
  'connections are forgotten, new ones pass': { begin: (link) => link.silence('lost', 'passes'), ends: false },
  'nothing passes for a while, and comes late': { begin: (link) => link.silence('waits', 'waits'), ends: true },
  'connections are forgotten, new ones hang for a while': { begin: (link) => link.silence('lost', 'lost'), ends: true },
}

async function send(node: ClusterNode, account: string, to: string): Promise<{ '/': string }> {
  const gas = { GasLimit: 0, GasFeeCap: '0', GasPremium: '0' }
  const message = { Version: 0, To: to, From: account, Nonce: 0, Value: '1', Method: 0, Params: null, ...gas }
  return (await node.call<{ CID: { '/': string } }>('MpoolPushMessage', message, null)).CID
}

/** @returns how long it took, ms */
async function level(producer: ClusterNode, follower: ClusterNode): Promise<number> {
  const began = performance.now()
  for (;;) {
    const [target, at] = [await height(producer), await height(follower)]
    const took = performance.now() - began
    if (at >= target - LEVEL) return took
    assert.ok(took < BACK_MS, `${follower.member.validate} is at ${at} of ${target}`)
    await sleep(POLL_MS)
  }
}

/** Runs the cases one after the other on one chain. @param only - part of a case's name @throws AssertionError */
export async function silentLinks(seconds: number, only: string): Promise<void> {
  const cluster = await Cluster.start({
    members: [
      { runtime: 'node', produce: [0], flags: ['--actors', 'native', '--f3', '10'] },
      { runtime: 'node', produce: [], validate: 'execute' },
      { runtime: 'node', produce: [], validate: 'headers' },
      { runtime: 'node', produce: [], validate: 'light' },
    ],
    miners: 1,
    blockTimeSec: BLOCK_TIME_SEC,
    topology: [
      [1, 0],
      [2, 0],
      [3, 0],
    ],
  })
  const [producer, ...followers] = cluster.nodes as [ClusterNode, ...ClusterNode[]]
  const links = followers.flatMap((node) => [...node.links.values()])
  try {
    await Promise.all(followers.map((node) => level(producer, node)))
    const accounts = await producer.call<{ Address: string }[]>('DevnetAccounts')
    const addresses = accounts.map(({ Address }) => Address)
    const sender = followers[0] as ClusterNode
    await sender.call('WalletImport', await producer.call('WalletExport', addresses[0]))
    for (const [name, { begin, ends }] of Object.entries(SILENCES)) {
      if (!name.includes(only)) continue
      for (const link of links) begin(link)
      const from = await Promise.all(followers.map(height))
      // It is told to nobody who is there: it has to be told again.
      const cid = await send(sender, addresses[0] as string, addresses[1] as string)
      const silentSince = performance.now()
      // Until it is seen: a head that has come while the line died is no sign of its life.
      await sleep(ends ? seconds * 1000 : 2 * LEVEL * BLOCK_TIME_SEC * 1000)
      if (ends) for (const link of links) link.heal()
      const healedAt = performance.now()
      const took = await Promise.all(followers.map((node) => level(producer, node)))
      const found = await sender.call<{ Height: number }>('StateWaitMsg', cid, 0, -1, true)
      const sentMs = performance.now() - healedAt
      console.log(`${name}${ends ? ` (${seconds} s)` : ''}:`)
      for (const [i, node] of followers.entries()) {
        const all = took[i] as number
        console.log(
          `  ${node.member.validate}: from ${from[i]}, level after ${(all / 1000).toFixed(1)} s, ${((healedAt - silentSince + all) / 1000).toFixed(1)} since the silence`,
        )
      }
      console.log(`  what was sent in it was mined in epoch ${found.Height}, ${(sentMs / 1000).toFixed(1)} s`)
      for (const { index, process } of cluster.nodes) {
        const log = process?.output() ?? ''
        for (const line of log.split('\n')) if (/ WARN | ERROR /.test(line)) console.log(`    ${index}: ${line}`)
        assert.ok(!log.includes('peer banned'), `nobody is banned: node ${index}`)
      }
    }
  } catch (error) {
    for (const { index, process } of cluster.nodes) console.log(`--- node ${index}\n${process?.output().slice(-6000)}`)
    throw error
  } finally {
    await cluster.close()
  }
}

if (import.meta.main) {
  const { values } = programArgs(import.meta.filename, {
    options: { seconds: { type: 'string', default: '90' }, only: { type: 'string', default: '' } },
  })
  await silentLinks(Number(values.seconds), values.only)
  console.log('all came back')
}
