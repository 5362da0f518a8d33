import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { until } from '../support/until.ts'
import type { GoPeer } from './goPeer.ts'
import { type Leader, peerHasHead } from './leader.ts'

const MESSAGES = 5000
const BATCH = 250
/** What a transfer may burn: all of them fit into one block. */
const GAS = { GasLimit: 1_000_000, GasFeeCap: '1000000000', GasPremium: '1000' }
const FOLLOW_MS = 240_000

/** Pushes them, from all secp256k1 accounts (a BLS key signs ten times as slowly). @returns the CID of one of the last */
async function pushAll({ rpc }: Leader): Promise<Answer> {
  const accounts = await rpc.call('DevnetAccounts')
  const senders = accounts.map((one: { Address: string }) => one.Address).filter((one: string) => one.startsWith('t1'))
  assert.ok(senders.length >= 8, `${senders.length} senders`)
  const message = (from: string): object => ({
    ...{ Version: 0, From: from, To: senders[0], Value: '1', Method: 0, Params: null, Nonce: 0 },
    ...GAS,
  })
  let last: Answer
  for (let at = 0; at < MESSAGES; at += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, i) => message(senders[(at + i) % senders.length]))
    last = (await rpc.call('MpoolBatchPushMessage', batch, null)).at(-1)
  }
  return last.CID
}

interface Follower {
  readonly node: NodeProcess
  readonly rpc: RpcClient
  readonly home: string
}

/** A node that knows the Go peer alone. */
async function startFollower(runtime: string, validate: string, leader: Leader, peer: GoPeer): Promise<Follower> {
  const home = mkdtempSync(join(tmpdir(), 'petrel-interop-'))
  const args = ['daemon', '--api', '0', '--network', join(leader.home, 'network.json'), '--validate', validate]
  const node = await startNode(runtime, home, [...args, '--bootstrap', peer.address('/tcp/')])
  return { node, rpc: new RpcClient(node.url, node.token), home }
}

async function reaches(follower: Follower, leader: Leader, what: string): Promise<void> {
  const { Cids, Height } = await leader.rpc.call('ChainHead')
  const wanted = JSON.stringify(Cids)
  await until(
    async () => JSON.stringify((await follower.rpc.call('ChainHead')).Cids) === wanted,
    `the follower (${what}) is at epoch ${Height}`,
    FOLLOW_MS,
  )
}

/**
 * 5,000 messages in one tipset, a Go peer between those who make and those who follow: nobody is lost or turned away.
 * @returns what the run took
 */
export async function followsFlood(runtime: string, leader: Leader, peer: GoPeer): Promise<string> {
  await leader.rpc.call('DevnetMine', 2, null)
  await peerHasHead(peer, leader.rpc)
  const followers = new Map<string, Follower>()
  try {
    for (const validate of ['execute', 'headers']) {
      const follower = await startFollower(runtime, validate, leader, peer)
      followers.set(validate, follower)
      await reaches(follower, leader, validate)
    }
    const sent = await pushAll(leader)
    const minedAt = performance.now()
    const tipset = await leader.rpc.call('DevnetMine', 1, null)
    const inside = await leader.rpc.call('ChainGetBlockMessages', tipset.Cids[0])
    assert.equal(inside.Cids.length, MESSAGES)
    await leader.rpc.call('DevnetMine', 1, null)
    const took: string[] = []
    for (const [validate, follower] of followers) {
      await reaches(follower, leader, validate)
      took.push(`${validate} after ${((performance.now() - minedAt) / 1000).toFixed(1)} s`)
      const peers = await follower.rpc.call('NetPeers')
      assert.ok(
        peers.some((one: { ID: string }) => one.ID === peer.id),
        `${validate}: the Go peer was turned away`,
      )
      const found = await follower.rpc.call('StateSearchMsg', [], sent, -1, true)
      assert.equal(found?.Height, tipset.Height + 1)
    }
    return took.join(', ')
  } catch (error) {
    for (const [validate, { node }] of followers) {
      console.log(`--- ${validate}\n${node.output().split('\n').slice(-25).join('\n')}`)
    }
    throw error
  } finally {
    for (const { node, home } of followers.values()) {
      await node.kill()
      rmSync(home, { recursive: true, force: true })
    }
  }
}
