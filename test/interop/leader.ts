/** A local chain of Petrel's, and a Go peer that knows its genesis. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { until } from '../support/until.ts'
import { type GoPeer, startGoPeer, type TipsetNote } from './goPeer.ts'

const NETWORK_NAME = 'petrel-devnet'

/** The chain's node makes a tipset when it is told to. */
export interface Leader {
  readonly home: string
  readonly node: NodeProcess
  readonly rpc: RpcClient
  readonly id: string
  /** TCP, with its peer ID. */
  readonly address: string
  stop(): Promise<void>
}

export async function startLeader(runtime: string): Promise<Leader> {
  const home = mkdtempSync(join(tmpdir(), 'petrel-interop-'))
  const args = ['devnet', '--api', '0', '--manual', '--actors', 'native', '--accounts', '8']
  const node = await startNode(runtime, home, [...args, '--listen', '/ip4/127.0.0.1/tcp/0'])
  const rpc = new RpcClient(node.url, node.token)
  const { ID, Addrs } = await rpc.call('NetAddrsListen')
  return {
    home,
    node,
    rpc,
    id: ID,
    address: `${Addrs[0]}/p2p/${ID}`,
    stop: async () => {
      await node.kill()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** A Go peer of the leader's chain, connected to it. */
export async function startBeside(program: string, leader: Leader): Promise<GoPeer> {
  const peer = await startGoPeer(program, { chain: join(leader.home, 'genesis.car'), network: NETWORK_NAME })
  await peer.call('connect', { address: leader.address })
  return peer
}

/** Runs `steps` between a leader and a Go peer; shows what both say when they fail. */
export async function beside(
  program: string,
  runtime: string,
  steps: (leader: Leader, peer: GoPeer) => Promise<void>,
): Promise<void> {
  const leader = await startLeader(runtime)
  let peer: GoPeer | undefined
  try {
    peer = await startBeside(program, leader)
    await steps(leader, peer)
  } catch (error) {
    console.log(leader.node.output().split('\n').slice(-30).join('\n'))
    console.log(JSON.stringify(await peer?.stats()))
    throw error
  } finally {
    await peer?.stop()
    await leader.stop()
  }
}

/** Until the peer has the node's head, messages and state included. */
export async function peerHasHead(peer: GoPeer, rpc: RpcClient): Promise<void> {
  const { Cids, Height } = await rpc.call('ChainHead')
  const wanted = Cids.map((one: { '/': string }) => one['/'])
  await until(
    async () => JSON.stringify(((await peer.call('head')) as TipsetNote).cids) === JSON.stringify(wanted),
    `the Go peer is at the node's head ${Height}`,
  )
}
