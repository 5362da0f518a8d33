/**
 * Memory of a node that follows an hour of chain, faster than it would come: a local chain makes tipsets on demand, two
 * followers (executing; headers alone) keep up.
 *
 *     node test/bench/following.bench.ts [epochs] [node|deno|package]      default 120 (an hour of 30 s epochs) node
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'

const EPOCHS = Number(process.argv[2] ?? 120)
const RUNTIME = process.argv[3] ?? 'node'
const STEP = Math.max(1, Math.floor(EPOCHS / 6))
const MESSAGES_PER_STEP = 5
const POLL_MS = 100

async function call<T>({ url, token }: NodeProcess, method: string, ...params: unknown[]): Promise<T> {
  const response = await fetch(`${url}/rpc/v1`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Node.${method}`, params }),
  })
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } }
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}

/** Resident memory, MB. */
function resident({ pid }: NodeProcess): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}

async function reached(node: NodeProcess, height: number): Promise<void> {
  while ((await call<{ Height: number }>(node, 'ChainHead')).Height < height) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

async function sendSome(node: NodeProcess): Promise<void> {
  const [from, to] = await call<{ Address: string }[]>(node, 'DevnetAccounts')
  const fields = {
    Version: 0,
    Nonce: 0,
    Value: '1',
    GasLimit: 0,
    GasFeeCap: '0',
    GasPremium: '0',
    Method: 0,
    Params: null,
  }
  for (let i = 0; i < MESSAGES_PER_STEP; i++) {
    await call(node, 'MpoolPushMessage', { ...fields, From: from?.Address, To: to?.Address }, null)
  }
}

const folder = mkdtempSync(join(tmpdir(), 'petrel-following-'))
const nodes: NodeProcess[] = []
try {
  const home = join(folder, 'producer')
  const producer = await startNode('node', home, ['devnet', '--manual', '--miners', '3', '--api', '0'])
  nodes.push(producer)
  const { Addrs, ID } = await call<{ Addrs: string[]; ID: string }>(producer, 'NetAddrsListen')
  const address = `${Addrs.find((one) => /\/tcp\/\d+$/.test(one))}/p2p/${ID}`
  const daemon = ['daemon', '--network', join(home, 'network.json'), '--bootstrap', address, '--api', '0']
  const followers = [
    await startNode(RUNTIME, join(folder, 'executing'), daemon),
    await startNode(RUNTIME, join(folder, 'headers'), [...daemon, '--validate', 'headers']),
  ]
  nodes.push(...followers)
  console.log('epoch   producer  executing  headers   MB resident')
  const started = performance.now()
  for (let done = 0; done < EPOCHS; ) {
    await sendSome(producer)
    const { Height } = await call<{ Height: number }>(producer, 'DevnetMine', STEP, null)
    for (const follower of followers) await reached(follower, Height)
    done += STEP
    const sizes = nodes.map((node) => String(resident(node)).padStart(9))
    console.log(`${String(Height).padStart(5)} ${sizes.join(' ')}`)
  }
  console.log(`${(EPOCHS / ((performance.now() - started) / 1000)).toFixed(1)} tipsets/s made and followed by two`)
} finally {
  for (const node of nodes) await node.stop()
  rmSync(folder, { recursive: true, force: true })
}
