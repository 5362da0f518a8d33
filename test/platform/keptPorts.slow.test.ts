/** A node without `--listen` takes the ports of its last start, so that a follower finds it again; a port that is taken meanwhile is left alone. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-ports-'))
const running: NodeProcess[] = []
afterAll(async () => {
  for (const one of running) await one.kill()
  rmSync(folder, { recursive: true, force: true })
})

async function start(name: string, args: readonly string[]): Promise<{ node: NodeProcess; rpc: RpcClient }> {
  const node = await startNode('node', join(folder, name), [...args, '--api', '0'])
  running.push(node)
  return { node, rpc: new RpcClient(node.url, node.token) }
}

const produce = (): Promise<{ node: NodeProcess; rpc: RpcClient }> =>
  start('producer', ['devnet', '--block-time', '1', '--actors', 'native'])

const isPlain = (one: string): boolean => /\/tcp\/\d+$/.test(one)

async function listening(rpc: RpcClient): Promise<string[]> {
  return (await rpc.call('NetAddrsListen')).Addrs.sort()
}

it('a follower finds a node again that was killed and started anew', async () => {
  const first = await produce()
  const addresses = await listening(first.rpc)
  expect(addresses.length).toBeGreaterThanOrEqual(3)
  const { ID } = await first.rpc.call('NetAddrsListen')
  const address = `${addresses.find(isPlain)}/p2p/${ID}`
  const network = join(folder, 'producer', 'network.json')
  const follower = await start('follower', [
    'daemon',
    '--network',
    network,
    '--validate',
    'headers',
    '--bootstrap',
    address,
  ])
  const height = async (rpc: RpcClient): Promise<number> => (await rpc.call('ChainHead')).Height
  await until(async () => (await height(follower.rpc)) > 0, 'the first blocks')
  await first.node.kill()

  const second = await produce()
  expect(await listening(second.rpc)).toEqual(addresses)
  const then = await height(second.rpc)
  await until(async () => (await height(follower.rpc)) > then, 'blocks made after the second start')
  await second.node.kill()

  // What others hold is theirs: the node starts all the same, and keeps its other ports.
  const [, port] = /\/tcp\/(\d+)$/.exec(addresses.find(isPlain) ?? '') ?? []
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(Number(port), '127.0.0.1', resolve))
  try {
    const third = await listening((await produce()).rpc)
    expect(third.filter((one) => !isPlain(one))).toEqual(addresses.filter((one) => !isPlain(one)))
    expect(third.find(isPlain)).not.toBe(addresses.find(isPlain))
  } finally {
    other.close()
  }
}, 120_000)
