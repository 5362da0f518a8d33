/** One transfer, from the send to its trace. */
import assert from 'node:assert/strict'
import type { Answer } from '../support/rpcClient.ts'
import { FIL, mine, type Step, send } from './world.ts'

/** In order, each on what the steps before it left. */
export const TRANSFER_STEPS: readonly Step[] = [
  {
    name: 'sends a transfer: priced, pending, included, final',
    run: async (world) => {
      const { rpc } = world
      const sent = await send(world, world.fresh, 3n * FIL)
      world.sent = sent
      assert.equal(sent.Message.Nonce, 0)
      assert.equal(sent.Message.GasLimit > 1_000_000, true)
      assert.equal(BigInt(sent.Message.GasFeeCap) > 100n, true)
      const pending = await world.node.client(undefined, 'v0').call('MpoolPending', null)
      assert.deepEqual(pending, [sent])
      assert.equal(await rpc.call('MpoolGetNonce', world.funded), 1)
      assert.equal(await rpc.call('StateSearchMsg', [], sent.CID, -1, true), null)
      const waiting = rpc.call('StateWaitMsg', sent.CID, 1, -1, true)
      await mine(world, 3)
      const found = await waiting
      assert.equal(found.Receipt.ExitCode, 0)
      assert.deepEqual(found.Message, sent.CID)
      assert.deepEqual(await rpc.call('MpoolPending', []), [])
      assert.equal(await rpc.call('WalletBalance', world.fresh), String(3n * FIL))
      assert.match(await rpc.call('StateLookupID', world.fresh, []), /^t0\d+/)
    },
  },
  {
    name: 'pays what its receipt says, to the attoFIL',
    run: async (world) => {
      const { rpc, sent } = world
      const replay = await rpc.call('StateReplay', [], sent.CID)
      assert.equal(replay.MsgRct.ExitCode, 0)
      assert.deepEqual(replay.GasCost.Message, sent.Message.CID)
      const { GasFeeCap, GasLimit } = sent.Message
      const { BaseFeeBurn, OverEstimationBurn, MinerTip, Refund, TotalCost } = replay.GasCost
      assert.equal(BigInt(TotalCost), BigInt(GasFeeCap) * BigInt(GasLimit) - BigInt(Refund))
      assert.equal(BigInt(TotalCost), BigInt(BaseFeeBurn) + BigInt(OverEstimationBurn) + BigInt(MinerTip))
      const genesis = (await rpc.call('DevnetAccounts'))[0].Balance
      const left = await rpc.call('WalletBalance', world.funded)
      assert.equal(BigInt(left), BigInt(genesis) - 3n * FIL - BigInt(TotalCost))
    },
  },
  {
    name: 'finds it by every search, and its transfer by trace',
    run: async (world) => {
      const { rpc, sent } = world
      const v0 = world.node.client(undefined, 'v0')
      const found = await rpc.call('StateSearchMsg', [], sent.CID, -1, true)
      assert.deepEqual(await v0.call('StateSearchMsg', sent.CID), found)
      assert.deepEqual(await v0.call('StateGetReceipt', sent.CID, []), found.Receipt)
      const executed = await rpc.call('ChainGetTipSet', found.TipSet)
      const messages = await rpc.call('ChainGetParentMessages', executed.Cids[0])
      assert.equal(
        messages.some((one: Answer) => one.Cid['/'] === sent.CID['/']),
        true,
      )
      const inclusion = executed.Blocks[0].Parents
      const { Height } = await rpc.call('ChainGetTipSet', inclusion)
      const computed = await rpc.call('StateCompute', Height, [], inclusion)
      assert.deepEqual(computed.Root, executed.Blocks[0].ParentStateRoot)
      const { Transfers, Fees } = await rpc.call('ChainGetTransfers', inclusion)
      const deposit = Transfers.find((one: Answer) => one.Kind === 'message')
      assert.equal(deposit.ToAddress, world.fresh)
      assert.equal(deposit.FromAddress, world.funded)
      assert.equal(deposit.Value, String(3n * FIL))
      assert.equal(Fees.length, 1)
    },
  },
]
