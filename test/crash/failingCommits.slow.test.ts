/**
 * A real node whose disk fails in the midst of a commit: of a send's, and of a block's. What it refuses leaves no trace, here or with its
 * peer; what it said stays true; its health says why. Started again it goes on, and what is sent again arrives once.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { freePort } from '../support/freePort.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { until } from '../support/until.ts'
import { heightOf, readiness } from './diskQuestions.ts'

const folder = mkdtempSync(join(tmpdir(), 'petrel-commits-'))
const control = join(folder, 'fail')
const HOOK = new URL('../support/failingReads.ts', import.meta.url).href
const SENDS = 6
const VALUE = 1000
const REFUSED = 'Cannot write to the store: Input/output error'

const running: NodeProcess[] = []
afterEach(async () => {
  rmSync(control, { force: true })
  for (const one of running.splice(0)) await one.kill()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(home: string, args: readonly string[]): Promise<{ node: NodeProcess; rpc: RpcClient }> {
  const env = { NODE_OPTIONS: `--import=${HOOK}`, FAILING_COMMITS: home.endsWith('follower') ? '' : control }
  const node = await startNode('node', home, [...args, '--api', '0'], undefined, env)
  running.push(node)
  return { node, rpc: new RpcClient(node.url, node.token) }
}

/** CIDs of all messages that come into a node's pool. */
function poolOf(node: NodeProcess): Promise<ReadonlySet<string>> {
  const seen = new Set<string>()
  const socket = new WebSocket(`${node.url.replace('http', 'ws')}/rpc/v1`)
  socket.onopen = () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Filecoin.MpoolSub', params: [] }))
  return new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      const { id, params } = JSON.parse(String(data)) as { id?: number; params?: [number, Answer] }
      if (id === 1) resolve(seen)
      const cid = params?.[1]?.Message?.CID?.['/']
      if (cid !== undefined) seen.add(cid)
    }
  })
}

test.each([
  ['of a send', ['--manual']],
  ['of a block', ['--block-time', '0.5']],
])(
  'a commit %s fails',
  async (name, flags) => {
    const home = join(folder, name.replaceAll(' ', '-'))
    const port = await freePort()
    const chain = ['devnet', '--actors', 'native', '--listen', `/ip4/127.0.0.1/tcp/${port}`, ...flags]
    const { node, rpc } = await start(home, chain)
    const { ID: id } = await rpc.call('NetAddrsListen')
    const follow = ['daemon', '--network', join(home, 'network.json'), '--listen', '/ip4/127.0.0.1/tcp/0']
    const bootstrap = ['--bootstrap', `/ip4/127.0.0.1/tcp/${port}/p2p/${id}`]
    const { node: follower, rpc: peer } = await start(join(home, 'follower'), [...follow, ...bootstrap])
    const told = await poolOf(follower)
    const isManual = flags.includes('--manual')
    const mine = (client: RpcClient): Promise<unknown> =>
      isManual ? client.call('DevnetMine', 1, null) : Promise.resolve()

    const from: string = await rpc.call('WalletDefaultAddress')
    const to: string = await rpc.call('WalletNew', 'secp256k1')
    const never: string = await rpc.call('WalletNew', 'secp256k1')
    const send = (client: RpcClient, uuid: string, receiver = to): Promise<Answer> =>
      client.call('MpoolPushMessage', { From: from, To: receiver, Value: String(VALUE) }, { MsgUuid: uuid })
    await mine(rpc)
    await until(async () => {
      const height = await heightOf(rpc)
      return height > 0 && (await heightOf(peer)) >= height - 1
    }, 'the peer follows')
    const first = await send(rpc, randomUUID())
    await until(() => told.has(first.CID['/']), 'the peer is told of a message')
    await mine(rpc)
    await mine(rpc)
    await rpc.call('StateWaitMsg', first.CID, 0, -1, true)
    const served = await rpc.call('ChainHead')

    writeFileSync(control, '')
    if (!isManual) await until(() => node.output().includes('cannot make a block'), 'a block fails')
    const ids = Array.from({ length: SENDS }, () => randomUUID())
    const asked = [...ids.map((uuid) => send(rpc, uuid)), ...ids.map(() => send(rpc, randomUUID(), never))]
    const refused = await Promise.all(asked.map((one) => one.catch((error: Error) => error.message)))
    expect(refused).toEqual(asked.map(() => REFUSED))
    expect(await rpc.call('MpoolPending', [])).toEqual([])
    expect(await readiness(node)).toEqual([503, expect.stringContaining(REFUSED)])
    expect((await fetch(`${node.url}/health/livez`)).status).toBe(200)
    if (isManual) await expect(mine(rpc)).rejects.toThrow(REFUSED)
    const stopped = await rpc.call('ChainHead')
    expect(stopped.Height).toBeGreaterThanOrEqual(served.Height)
    expect(await rpc.call('StateSearchMsg', [], first.CID, -1, true)).not.toBeNull()
    // What a failed commit left in LMDB's memory nobody knows: until it is opened anew nothing is written.
    rmSync(control)
    await expect(send(rpc, ids[0] as string)).rejects.toThrow(REFUSED)
    expect((await readiness(node))[0]).toBe(503)
    expect(await heightOf(rpc)).toBe(stopped.Height)
    await node.stop()

    const { node: reborn, rpc: again } = await start(home, chain)
    expect((await again.call('ChainGetTipSetByHeight', stopped.Height, [])).Cids).toEqual(stopped.Cids)
    expect((await readiness(reborn))[0]).toBe(200)
    const sent: Answer[] = await Promise.all(ids.map((uuid) => send(again, uuid)))
    expect(await Promise.all(ids.map((uuid) => send(again, uuid)))).toEqual(sent)
    const nonces = sent.map(({ Message }) => Message.Nonce as number).sort((a, b) => a - b)
    expect(nonces).toEqual(ids.map((_, i) => first.Message.Nonce + 1 + i))
    const cids = [first, ...sent].map(({ CID }) => CID['/'] as string)
    // What a block takes before the peer is back comes with the block.
    if (isManual) await until(() => cids.every((cid) => told.has(cid)), 'the peer is told of what was sent again')
    await mine(again)
    await mine(again)
    const arrived = (client: RpcClient) => async (): Promise<boolean> =>
      (await client.call('WalletBalance', to)) === String(VALUE * cids.length)
    await until(arrived(again), 'all messages')
    await until(arrived(peer), "all messages on the peer's chain")
    expect([...told].filter((cid) => !cids.includes(cid))).toEqual([])
    for (const client of [again, peer]) {
      expect(await client.call('MpoolPending', [])).toEqual([])
      expect(await client.call('WalletBalance', never)).toBe('0')
    }
  },
  180_000,
)
