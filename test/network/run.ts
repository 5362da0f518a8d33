/**
 * Many nodes of one chain on one machine, with links that break and nodes that are killed, by a seeded schedule. In the
 * end all agree on the head, no message is lost, and no node has grown beyond its bound.
 *
 *     npm test -- network [--seed <n>] [--rounds <n>] [--block-time <seconds>]
 */

import { programArgs } from '../../scripts/programArgs.ts'
import { Cluster, type ClusterNode, type Member } from './cluster.ts'

const { values } = programArgs(import.meta.filename, {
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string', default: '8' },
    'block-time': { type: 'string', default: '2' },
  },
})

const seed = Number(values.seed ?? Date.now() % 1_000_000)
const rounds = Number(values.rounds)
const blockTimeSec = Number(values['block-time'])

/** Epochs that a message takes from a healed network into the chain and below the newest tipsets. */
const SETTLE_EPOCHS = 10
const AGREEMENT_MS = 120_000
/** Resident memory of a node that follows a small chain, MB. */
const MAX_RESIDENT_MB = 900

const MEMBERS: readonly Member[] = [
  { runtime: 'node', produce: [0, 1] },
  { runtime: 'deno', produce: [2] },
  { runtime: 'node', produce: [], validate: 'execute' },
  { runtime: 'node', produce: [], validate: 'headers' },
]
const TOPOLOGY: readonly (readonly [number, number])[] = [
  [1, 0],
  [2, 0],
  [2, 1],
  [3, 1],
  [3, 2],
]

/** Seeded numbers from 0 to 1. @see https://en.wikipedia.org/wiki/Linear_congruential_generator (Numerical Recipes) */
function generator(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const random = generator(seed)
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

interface Sent {
  readonly cid: string
  readonly from: number
}

/** A small transfer from an account that only this node uses. */
async function send(node: ClusterNode): Promise<Sent> {
  const accounts = await node.call<{ Address: string }[]>('DevnetAccounts')
  const from = accounts[node.index]?.Address
  const to = accounts.at(-1)?.Address
  const message = { Version: 0, To: to, From: from, Nonce: 0, Value: '1', GasLimit: 0, Method: 0, Params: null }
  const signed = await node.call<{ CID: { '/': string } }>(
    'MpoolPushMessage',
    { ...message, GasFeeCap: '0', GasPremium: '0' },
    null,
  )
  return { cid: signed.CID['/'], from: node.index }
}

async function round(cluster: Cluster, sent: Sent[]): Promise<string> {
  const producers = cluster.nodes.filter((node) => node.member.produce.length > 0)
  const sender = pick(producers)
  if (sender.process !== undefined) sent.push(await send(sender))
  const kind = pick(['cut', 'delay', 'kill', 'heal'] as const)
  const node = pick(cluster.nodes)
  const link = pick([...cluster.nodes.flatMap((one) => [...one.links.values()])])
  switch (kind) {
    case 'cut':
      link.cut()
      return 'a link is cut'
    case 'delay':
      link.heal(Math.floor(random() * 300))
      return 'a link is slow'
    case 'kill':
      await cluster.killNode(node)
      await cluster.startNode(node)
      return `node ${node.index} was killed and started`
    case 'heal':
      await cluster.healAll()
      return 'all links are healed'
  }
}

async function main(): Promise<void> {
  console.log(`seed ${seed}, ${MEMBERS.length} nodes, ${rounds} rounds, an epoch every ${blockTimeSec} s`)
  const cluster = await Cluster.start({ members: MEMBERS, miners: 3, blockTimeSec, topology: TOPOLOGY })
  try {
    console.log(`together at epoch ${await cluster.agreement(2, AGREEMENT_MS)}`)
    const sent: Sent[] = []
    for (let i = 0; i < rounds; i++) {
      console.log(`round ${i}: ${await round(cluster, sent)}`)
      await new Promise((resolve) => setTimeout(resolve, random() * 3 * blockTimeSec * 1000))
    }
    await cluster.healAll()
    const first = cluster.nodes[0] as ClusterNode
    const { Height } = await first.call<{ Height: number }>('ChainHead')
    const height = await cluster.agreement(Height + SETTLE_EPOCHS, AGREEMENT_MS)
    console.log(`all agree at epoch ${height}`)
    for (const node of cluster.nodes) {
      for (const { cid, from } of sent) {
        const found = await node.call<unknown>('StateSearchMsg', [], { '/': cid }, -1, true)
        if (found === null) throw new Error(`node ${node.index} does not find the message ${cid} of node ${from}`)
      }
      const resident = node.residentMb()
      if (resident > MAX_RESIDENT_MB) throw new Error(`node ${node.index} holds ${Math.round(resident)} MB`)
      console.log(`node ${node.index} (${node.member.runtime}): ${sent.length} messages, ${Math.round(resident)} MB`)
    }
  } catch (error) {
    for (const node of cluster.nodes) console.log(`--- node ${node.index}\n${node.process?.output().slice(-4000)}`)
    throw error
  } finally {
    await cluster.close()
  }
}

try {
  await main()
  console.log('1 passed, 0 failed, 0 skipped')
} catch (error) {
  console.log(`FAIL with seed ${seed}: ${(error as Error).stack}`)
  console.log('0 passed, 1 failed, 0 skipped')
  process.exitCode = 1
}
