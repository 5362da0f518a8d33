/**
 * A follower whose clock is set an hour back or forward while it runs, of a chain whose blocks may not be of the future: it keeps its
 * head and its peers, says what is wrong, and goes on when the clock is right.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-clock-'))
const HOOK = new URL('../support/shiftedClock.ts', import.meta.url).href
const LISTEN = ['--listen', '/ip4/127.0.0.1/tcp/0']
const HOUR = 3_600_000

const running: NodeProcess[] = []
afterAll(async () => {
  for (const one of running) await one.kill()
  rmSync(folder, { recursive: true, force: true })
})

async function start(
  name: string,
  args: readonly string[],
  env = {},
): Promise<{ node: NodeProcess; client: RpcClient; address: string; id: string }> {
  const node = await startNode('node', join(folder, name), [...args, '--api', '0', ...LISTEN], undefined, env)
  running.push(node)
  const client = new RpcClient(node.url, node.token)
  const { ID: id, Addrs: addresses } = await client.call('NetAddrsListen')
  const tcp = addresses.find((one: string) => one.startsWith('/ip4/127.0.0.1/tcp/'))
  return { node, client, id, address: `${tcp}/p2p/${id}` }
}

const headOf = async ({ client }: { client: RpcClient }): Promise<Answer> => await client.call('ChainHead')

/** The producer's network with mainnet's rules for blocks of the future. */
function strictNetwork(home: string, path: string): string {
  const { digest, protocol, ...network } = JSON.parse(readFileSync(join(home, 'network.json'), 'utf8'))
  expect(digest).toBeTypeOf('string')
  const strict = { ...network, allowableClockDriftSecs: 1, protocol: { ...protocol, maxHeightDrift: 5 } }
  writeFileSync(path, JSON.stringify(strict))
  return path
}

// Side by side: for most of the time each waits for epochs.
test.concurrent.each([
  ['back', -HOUR],
  ['forward', HOUR],
])('a follower whose clock is set an hour %s', async (direction, ms) => {
  const control = join(folder, `shift-${direction}`)
  const producer = await start(`producer-${direction}`, ['devnet', '--block-time', '2', '--actors', 'native'])
  const network = strictNetwork(join(folder, `producer-${direction}`), join(folder, `strict-${direction}.json`))
  const daemon = ['daemon', '--network', network, '--bootstrap', producer.address]
  const env = { NODE_OPTIONS: `--import=${HOOK}`, SHIFTED_CLOCK: control }
  const follower = await start(`follower-${direction}`, daemon, env)
  const readiness = async (): Promise<[number, string]> => {
    const answer = await fetch(`${follower.node.url}/health/readyz`)
    return [answer.status, await answer.text()]
  }
  const follows = async (): Promise<boolean> => {
    const [{ Height: made }, { Height: has }] = [await headOf(producer), await headOf(follower)]
    return has > 1 && has >= made - 1
  }
  await until(follows, 'it follows')

  const before = await headOf(follower)
  writeFileSync(control, String(ms))
  // Five epochs and more: what comes meanwhile is of the future for a clock that is behind.
  await until(async () => (await headOf(producer)).Height >= before.Height + 7, 'the producer goes on')
  const during = await headOf(follower)
  expect(during.Height).toBeGreaterThanOrEqual(before.Height)
  const found = await follower.client.call('ChainGetTipSetByHeight', before.Height, [])
  expect(found.Cids).toEqual(before.Cids)
  const [status, text] = await readiness()
  expect(text).toContain(`the clock was set ${direction} by 3600 s since the start`)
  if (direction === 'back') {
    expect(status).toBe(503)
    expect(text).toMatch(/the head is 3[56]\d\d s ahead of the clock: blocks are refused until it is right/)
    expect(during.Height).toBeLessThanOrEqual(before.Height + 2)
  } else expect(await follows()).toBe(true)
  await until(async () => follower.node.output().includes(`the clock was set ${direction} by`), 'the log says so')

  rmSync(control)
  await until(follows, 'it follows again')
  await until(async () => follower.node.output().includes('the clock is again as it was'), 'it says so')
  expect((await readiness())[0]).toBe(200)
  expect((await follower.client.call('NetPeers')).map(({ ID }: Answer) => ID)).toEqual([producer.id])
  expect(follower.node.output()).not.toMatch(/peer banned|BUG/)
  const { Height: height } = await headOf(follower)
  for (let epoch = 1; epoch <= height; epoch++) {
    const { Cids: cids } = await producer.client.call('ChainGetTipSetByHeight', epoch, [])
    expect((await follower.client.call('ChainGetTipSetByHeight', epoch, [])).Cids).toEqual(cids)
    for (const cid of cids) expect(await follower.client.call('SyncCheckBad', cid)).toBe('')
  }
})
