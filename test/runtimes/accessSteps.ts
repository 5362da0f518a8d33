/** Who may ask, and how: tokens, HTTP, an open line. */
import assert from 'node:assert/strict'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { failure, mine, type Step, send } from './world.ts'

/** In order, each on what the steps before it left. */
export const ACCESS_STEPS: readonly Step[] = [
  {
    name: 'gives each token its permissions and no more',
    run: async (world) => {
      const { rpc, node } = world
      const encoded = await rpc.call('AuthNew', ['read', 'write'])
      const token = Buffer.from(encoded, 'base64').toString()
      assert.deepEqual(await rpc.call('AuthVerify', token), ['read', 'write'])
      const writer = node.client(token)
      assert.equal((await writer.call('WalletList')).length > 0, true)
      const denied = await failure(writer.call('WalletSign', world.funded, 'AA=='))
      assert.equal(denied.code, 1)
      assert.equal(denied.message, "missing permission to invoke 'WalletSign' (need 'sign')")
      const anonymous = node.client()
      assert.equal((await anonymous.call('ChainHead')).Height > 0, true)
      assert.match((await failure(anonymous.call('WalletNew', 1))).message, /need 'write'/)
      await assert.rejects(node.client(`${token}x`).call('ChainHead'))
    },
  },
  {
    name: 'speaks JSON-RPC as Lotus does, over HTTP',
    only: 'http',
    run: async ({ node }) => {
      const rpc = new RpcClient(node.url, node.token)
      const broken = await new RpcClient(node.url, `${node.token}x`).post({
        jsonrpc: '2.0',
        method: 'Node.ChainHead',
        params: [],
        id: 1,
      })
      assert.equal(broken.status, 401)
      assert.equal(await broken.text(), '')
      const batch = await rpc.post([
        { jsonrpc: '2.0', method: 'Filecoin.ChainHead', params: [], id: 1 },
        { jsonrpc: '2.0', method: 'Node.Nothing', params: [], id: 'x' },
        { jsonrpc: '2.0', method: 'Node.ChainHead', params: [] },
      ])
      assert.equal(batch.status, 200)
      const answers = (await batch.json()) as Answer
      assert.equal(answers.length, 2)
      assert.equal(answers[1].error.code, -32601)
      const wrong = await rpc.post({ jsonrpc: '2.0', method: 'Node.ChainHead', params: [1], id: 1 })
      assert.equal(wrong.status, 500)
      assert.equal(((await wrong.json()) as Answer).error.code, -32602)
      assert.equal((await rpc.post('{')).status, 500)
      assert.equal((await rpc.post('[]')).status, 400)
      const discovered = await rpc.post({ jsonrpc: '2.0', method: 'rpc.discover', params: [], id: 1 })
      const { result } = (await discovered.json()) as Answer
      assert.equal(result.methods.length > 60, true)
    },
  },
  {
    name: 'tells of heads and of pool changes over an open line',
    run: async (world) => {
      const frames: Answer[] = []
      const arrived: (() => void)[] = []
      const line = await world.node.openLine((text) => {
        frames.push(JSON.parse(text))
        for (const wake of arrived.splice(0)) wake()
      })
      const until = async (done: () => boolean): Promise<void> => {
        const end = Date.now() + 10_000
        while (!done()) {
          assert.equal(Date.now() < end, true, `frames: ${JSON.stringify(frames).slice(0, 300)}`)
          await Promise.race([
            new Promise<void>((resolve) => arrived.push(resolve)),
            new Promise((resolve) => setTimeout(resolve, 200)),
          ])
        }
      }
      line.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Filecoin.ChainNotify', params: [] }))
      line.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'Filecoin.MpoolSub', params: [] }))
      await until(() => frames.length >= 3)
      assert.equal(frames.find((one) => one.method === 'xrpc.ch.val').params[1][0].Type, 'current')
      const sent = await send(world, world.fresh, 19)
      await mine(world)
      const values = (): Answer[] => frames.filter((one) => one.method === 'xrpc.ch.val').map((one) => one.params[1])
      await until(() => values().some((one) => one.Type === 1))
      assert.deepEqual(values().find((one) => one.Type === 0).Message.CID, sent.CID)
      await until(() => values().some((one) => Array.isArray(one) && one[0].Type === 'apply'))
      line.close()
      await mine(world, 2)
    },
  },
]
