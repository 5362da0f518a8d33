/** A start that the index refuses leaves nothing that refuses the right one: homes and databases of real nodes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { missingPostgres, TestPostgres } from '../support/postgres.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { missingShared, sharedPath } from '../support/shared.ts'
import { until } from '../support/until.ts'
import { newDatabase } from './indexed.ts'
import { timers } from './writers.ts'

const missing = missingPostgres()
if (missing !== undefined) console.log(`skipped: ${missing}`)

const homes: string[] = []
const running: NodeProcess[] = []
let server: TestPostgres
/** A database of a chain that is nobody's here. */
let foreign: string

beforeAll(async () => {
  if (missing !== undefined) return
  server = await TestPostgres.start()
  foreign = await newDatabase(server.url(), 'foreign_chain')
  const chain = { network: 'elsewhere', genesis: 'bafy-elsewhere', chainId: 1 }
  const session = await new PostgresIndex(foreign, timers).open(chain, new AbortController().signal, () => undefined)
  await session.close()
}, 60_000)
afterAll(async () => {
  for (const node of running) await node.kill()
  for (const home of homes) rmSync(home, { recursive: true, force: true })
  await server?.end()
})

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'petrel-refused-'))
  homes.push(home)
  return home
}

async function start(home: string, args: readonly string[]): Promise<NodeProcess> {
  const node = await startNode('node', home, [...args, '--api', '0'])
  running.push(node)
  return node
}

const heightOf = async (node: NodeProcess): Promise<number> =>
  (await new RpcClient(node.url, node.token).call('ChainHead')).Height

const REFUSED = 'the index holds elsewhere with genesis bafy-elsewhere, this node follows'

test.skipIf(missing !== undefined)(
  'after a refusal the right start works in the same home, and a chain that was there before stays',
  async () => {
    const local = ['devnet', '--no-net', '--actors', 'native', '--block-time', '0.2']
    const home = newHome()
    await expect(start(home, [...local, '--seed', 'wrong', '--index', foreign])).rejects.toThrow(REFUSED)
    const own = await newDatabase(server.url(), 'own_chain')
    const right = [...local, '--seed', 'right', '--index']
    const first = await start(home, [...right, own])
    await until(async () => (await heightOf(first)) >= 5, 'blocks')
    await first.stop()
    await expect(start(home, [...right, foreign])).rejects.toThrow(REFUSED)
    const writer = await start(home, [...right, own])
    expect(await heightOf(writer)).toBeGreaterThanOrEqual(5)
    const network = join(home, 'network.json')

    const cache = newHome()
    const replica = ['replica', '--blocks', writer.url, '--index']
    await expect(start(cache, [...replica, foreign, '--network', 'calibnet'])).rejects.toThrow(REFUSED)
    const reader = await start(cache, [...replica, own, '--network', network])
    expect(await heightOf(reader)).toBeGreaterThan(0)

    if (missingShared('data/golden/nv28') !== undefined) return console.log('skipped: a snapshot')
    const follower = newHome()
    const golden = (name: string): string => sharedPath(`data/golden/nv28/${name}`)
    const snapshot = ['daemon', '--no-net', '--network', golden('network.json'), '--snapshot', golden('chain.car.zst')]
    await expect(start(follower, [...snapshot, '--index', foreign])).rejects.toThrow(REFUSED)
    const fresh = await newDatabase(server.url(), 'fresh_chain')
    const node = await start(follower, ['daemon', '--no-net', '--network', network, '--index', fresh])
    expect(await heightOf(node)).toBe(0)
  },
  240_000,
)
