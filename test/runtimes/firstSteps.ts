/** A new node: it answers, makes tipsets and keeps a wallet. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { mine, type Step } from './world.ts'

/** In order, each on what the steps before it left. */
export const FIRST_STEPS: readonly Step[] = [
  {
    name: 'answers, each path in its own version',
    run: async ({ node, rpc }) => {
      const head = await rpc.call('ChainHead')
      assert.deepEqual(Object.keys(head), ['Cids', 'Blocks', 'Height'])
      assert.equal((await rpc.call('Version')).APIVersion, 131_840)
      assert.equal((await node.client(undefined, 'v0').call('Version')).APIVersion, 66_816)
    },
  },
  {
    name: 'starts with files that only the owner reads, and serves nothing else',
    only: 'http',
    run: async ({ node: { url, home, output } }) => {
      assert.equal(statSync(join(home, 'token')).mode & 0o777, 0o600)
      assert.match(output(), /JSON-RPC on http:/)
      assert.equal((await fetch(`${url}/health/livez`)).status, 200)
      assert.equal((await fetch(`${url}/nothing`)).status, 404)
    },
  },
  {
    name: 'makes tipsets, null rounds and forks when told to',
    run: async (world) => {
      const head = await mine(world, 3)
      assert.equal(head.Height >= 3, true)
      const after = await mine(world, 1, { NullRounds: 2, Fork: 0 })
      assert.equal(after.Height >= head.Height + 3, true)
      const before = await world.rpc.call('ChainGetTipSetByHeight', head.Height + 1, [])
      assert.equal(before.Height, head.Height, 'a null round gives the tipset before it')
      const next = await world.rpc.call('ChainGetTipSetAfterHeight', head.Height + 1, [])
      assert.equal(next.Height, after.Height)
    },
  },
  {
    name: 'keeps a wallet',
    run: async (world) => {
      const { rpc } = world
      const accounts = await rpc.call('DevnetAccounts')
      world.funded = accounts[0].Address
      assert.equal(await rpc.call('WalletDefaultAddress'), world.funded)
      world.fresh = await rpc.call('WalletNew', 1)
      assert.match(world.fresh, /^t1/)
      assert.match(await rpc.call('WalletNew', 2), /^t3/)
      assert.match(await rpc.call('WalletNew', 'delegated'), /^t410/)
      assert.equal((await rpc.call('WalletList')).includes(world.fresh), true)
      assert.equal(await rpc.call('WalletBalance', world.fresh), '0')
      const data = Buffer.from('petrel').toString('base64')
      const signature = await rpc.call('WalletSign', world.fresh, data)
      assert.equal(await rpc.call('WalletVerify', world.fresh, data, signature), true)
      assert.equal(await rpc.call('WalletVerify', world.funded, data, signature), false)
      const exported = await rpc.call('WalletExport', world.fresh)
      await rpc.call('WalletDelete', world.fresh)
      assert.equal(await rpc.call('WalletHas', world.fresh), false)
      assert.equal(await rpc.call('WalletImport', exported), world.fresh)
    },
  },
]
