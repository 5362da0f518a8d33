/** What is left after an end: orderly, by kill -9, over RPC. */
import assert from 'node:assert/strict'
import type { NodeClient } from './nodeHost.ts'
import { mine, restart, type Step, send } from './world.ts'

/** In order, each on what the steps before it left. */
export const END_STEPS: readonly Step[] = [
  {
    name: 'is the same after an orderly restart',
    run: async (world) => {
      const { rpc } = world
      const questions = async (client: NodeClient): Promise<unknown> => ({
        head: await client.call('ChainHead'),
        wallet: await client.call('WalletList'),
        balance: await client.call('WalletBalance', world.fresh),
        found: await client.call('StateSearchMsg', [], world.sent.CID, -1, true),
        nonce: await client.call('MpoolGetNonce', world.funded),
      })
      const before = await questions(rpc)
      const { token } = world.node
      assert.equal(await world.node.stop(), 0, world.node.output())
      await restart(world)
      assert.deepEqual(await questions(world.rpc), before)
      assert.equal((await world.node.client(token).call('AuthVerify', token)).length, 4)
    },
  },
  {
    name: 'loses no message of ours to kill -9',
    run: async (world) => {
      const sent = [await send(world, world.fresh, 23), await send(world, world.fresh, 29)]
      const spec = { MsgUuid: '8d9c1b1e-6f9a-4e47-8f6c-0c1a7d1c0002' }
      sent.push(await send(world, world.fresh, 31, {}, spec))
      await world.node.kill()
      await restart(world)
      assert.deepEqual(await world.rpc.call('MpoolPending', []), sent)
      assert.deepEqual(await send(world, world.fresh, 31, {}, spec), sent[2], 'a repeated send is not a second one')
      const next = await send(world, world.fresh, 37)
      assert.equal(next.Message.Nonce, sent[2].Message.Nonce + 1)
      await mine(world, 3)
      for (const one of [...sent, next]) {
        assert.equal((await world.rpc.call('StateSearchMsg', [], one.CID, -1, true)).Receipt.ExitCode, 0)
      }
    },
  },
  {
    name: 'ends when told to over RPC',
    run: async (world) => {
      await world.rpc.call('Shutdown')
      const deadline = Date.now() + 10_000
      for (;;) {
        const alive = await world.node.isAlive()
        if (!alive) return
        assert.equal(Date.now() < deadline, true, 'still there after 10 s')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
  },
]
