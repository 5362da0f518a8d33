/** Messages that are refused, priced, repaired, returned and selected. */
import assert from 'node:assert/strict'
import type { Answer } from '../support/rpcClient.ts'
import { FIL, failure, INVOKE_EVM, mine, PLAIN, type Step, send } from './world.ts'

/** In order, each on what the steps before it left. */
export const MESSAGE_STEPS: readonly Step[] = [
  {
    name: 'refuses what cannot work, and uses no nonce up',
    run: async (world) => {
      const { rpc } = world
      const before = await rpc.call('MpoolGetNonce', world.funded)
      assert.match(
        (await failure(send(world, world.fresh, 5, { Nonce: 77 }))).message,
        /expects message nonce to be 0, was 77/,
      )
      const broke = await failure(send(world, world.fresh, 10n ** 30n))
      assert.equal(broke.code, 1)
      assert.match(broke.message, /SysErrInsufficientFunds\(6\)/)
      assert.match((await failure(send(world, 't0999999', 1))).message, /SysErrInvalidReceiver\(5\)/)
      assert.match((await failure(send(world, world.fresh, 5, {}, { MaxFee: '1000' }))).message, /gas fee cap too low$/)
      const estimate = await failure(
        rpc.call(
          'GasEstimateMessageGas',
          { ...PLAIN, From: world.funded, To: world.fresh, Value: String(10n ** 30n) },
          null,
          [],
        ),
      )
      assert.equal(estimate.code, 3)
      assert.equal(estimate.data, '0x')
      assert.equal(await rpc.call('MpoolGetNonce', world.funded), before)
    },
  },
  {
    name: 'refuses what costs more together than there is, sent in one batch or at the same moment',
    run: async (world) => {
      const { rpc } = world
      const poor = await rpc.call('WalletNew', 'secp256k1')
      await send(world, poor, 10n * FIL)
      await mine(world, 2)
      const part = (value: bigint) => ({ ...PLAIN, From: poor, To: world.funded, Value: String(value) })
      const batch = await failure(rpc.call('MpoolBatchPushMessage', [part(7n * FIL), part(7n * FIL)], null))
      assert.match(batch.message, /SysErrInsufficientFunds\(6\)/)
      assert.equal(await rpc.call('MpoolGetNonce', poor), 1, 'the first of them was sent')
      const atOnce = await Promise.allSettled([0, 1].map(() => rpc.call('MpoolPushMessage', part(2n * FIL), null)))
      const refused = atOnce.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
      assert.equal(refused.length, 1)
      assert.match(String(refused[0]?.reason), /SysErrInsufficientFunds\(6\)/)
      await mine(world, 2)
      assert.deepEqual(await rpc.call('MpoolPending', []), [])
    },
  },
  {
    name: 'takes gas settings: overestimation, fee limit, ids of sends',
    run: async (world) => {
      const { rpc } = world
      const message = { ...PLAIN, From: world.funded, To: world.fresh, Value: '7' }
      const gas = await rpc.call('GasEstimateGasLimit', message, [])
      const limit = async (spec: unknown): Promise<number> =>
        (await rpc.call('GasEstimateMessageGas', message, spec, [])).GasLimit
      assert.equal(await limit(null), Math.trunc(gas * 1.25))
      assert.equal(await limit({ GasLimitOverestimation: 1.5 }), Math.trunc(gas * 1.5))
      const spec = { MaxFee: String(FIL), MaximizeFeeCap: true, MsgUuid: '8d9c1b1e-6f9a-4e47-8f6c-0c1a7d1c0001' }
      const first = await send(world, world.fresh, 7, {}, spec)
      assert.equal(BigInt(first.Message.GasFeeCap), FIL / BigInt(first.Message.GasLimit))
      assert.deepEqual(await send(world, world.fresh, 7, {}, spec), first)
      await mine(world, 2)
    },
  },
  {
    name: 'repairs a stuck message by a better one',
    run: async (world) => {
      const { rpc } = world
      const stuck = await send(world, world.fresh, 11, { GasLimit: 2_000_000, GasFeeCap: '100', GasPremium: '100' })
      const blocked = await send(world, world.fresh, 12)
      await mine(world, 2)
      const waiting = await rpc.call('MpoolPending', [])
      assert.deepEqual(waiting, [stuck, blocked], 'the next nonce waits behind it')
      const fees = { GasFeeCap: blocked.Message.GasFeeCap, GasPremium: '105' }
      const tooLittle = await rpc.call('WalletSignMessage', world.funded, { ...stuck.Message, ...fees })
      assert.match(
        (await failure(rpc.call('MpoolPush', tooLittle))).message,
        /increase GasPremium to 111 from 105 to trigger replace by fee: replace by fee has too low GasPremium$/,
      )
      const better = await rpc.call('WalletSignMessage', world.funded, { ...stuck.Message, ...fees, GasPremium: '111' })
      assert.deepEqual(await rpc.call('MpoolPush', better), better.CID)
      await mine(world, 3)
      assert.deepEqual(await rpc.call('MpoolPending', []), [])
      const found = await rpc.call('StateSearchMsg', [], stuck.CID, -1, true)
      assert.deepEqual(found.Message, better.CID, 'the search names what was executed')
      assert.equal(await rpc.call('StateSearchMsg', [], stuck.CID, -1, false), null)
    },
  },
  {
    name: 'pays an Ethereum address, which can pay on',
    run: async (world) => {
      const { rpc } = world
      const eth = await rpc.call('WalletNew', 'delegated')
      const paid = await send(world, eth, 2n * FIL, { Method: INVOKE_EVM })
      await mine(world, 3)
      assert.equal((await rpc.call('StateSearchMsg', [], paid.CID, -1, true)).Receipt.ExitCode, 0)
      assert.equal(await rpc.call('WalletBalance', eth), String(2n * FIL))
      // an Ethereum account reaches f1 addresses by their IDs alone
      const to = await rpc.call('StateLookupID', world.fresh, [])
      const back = await rpc.call(
        'MpoolPushMessage',
        { ...PLAIN, From: eth, To: to, Value: String(FIL), Method: INVOKE_EVM },
        null,
      )
      assert.equal(back.Signature.Type, 3)
      await mine(world, 3)
      assert.equal((await rpc.call('StateSearchMsg', [], back.CID, -1, true)).Receipt.ExitCode, 0)
    },
  },
  {
    name: 'puts messages back after a fork',
    run: async (world) => {
      const { rpc } = world
      const sent = await send(world, world.fresh, 13)
      await mine(world, 2)
      assert.notEqual(await rpc.call('StateSearchMsg', [], sent.CID, -1, true), null)
      const old = await rpc.call('ChainHead')
      await mine(world, 1, { NullRounds: 0, Fork: 3 })
      const head = await rpc.call('ChainHead')
      assert.notDeepEqual(head.Cids, old.Cids)
      const pending = await rpc.call('MpoolPending', [])
      const included = (await rpc.call('ChainGetMessagesInTipset', head.Cids)) ?? []
      const cids = [...pending.map((one: Answer) => one.CID), ...included.map((one: Answer) => one.Cid)]
      assert.equal(
        cids.some((one) => one['/'] === sent.CID['/']),
        true,
        'pending again, or in a block of the new branch',
      )
      await mine(world, 3)
      assert.equal((await rpc.call('StateSearchMsg', [], sent.CID, -1, true)).Receipt.ExitCode, 0)
    },
  },
  {
    name: 'follows deposits across tipsets',
    run: async (world) => {
      const { rpc } = world
      const { Position, Applied } = await rpc.call('ChainGetTransfersSince', [], 1, 0)
      assert.deepEqual(Applied, [])
      const sent = await send(world, world.fresh, 17)
      await mine(world, 4)
      const steps = await rpc.call('ChainGetTransfersSince', Position, 1, 0)
      const deposits = steps.Applied.flatMap((tipset: Answer) => tipset.Transfers).filter(
        (one: Answer) => one.ToAddress === world.fresh,
      )
      assert.deepEqual(
        deposits.map((one: Answer) => [one.Message, one.Value]),
        [[sent.CID, '17']],
      )
      assert.deepEqual((await rpc.call('ChainGetTransfersSince', steps.Position, 1, 0)).Applied, [])
    },
  },
  {
    name: 'checks, selects, batches and clears pending messages',
    run: async (world) => {
      const { rpc } = world
      assert.match(
        (await failure(rpc.call('MpoolPush', {}))).message,
        /^message not valid for block inclusion: 'To' address cannot be empty$/,
      )
      assert.equal(
        (await failure(rpc.call('MpoolPushMessage', {}, null))).message,
        'getting key address: failed to find actor: <empty>',
      )
      assert.equal(await rpc.call('MpoolCheckPendingMessages', world.funded), null)
      const message = { ...PLAIN, From: world.funded, To: world.fresh, Value: '1' }
      const sent = await rpc.call('MpoolBatchPushMessage', [message, message], null)
      assert.equal(sent[1].Message.Nonce, sent[0].Message.Nonce + 1)
      const checks = await rpc.call('MpoolCheckPendingMessages', world.funded)
      assert.deepEqual(
        checks.map((one: Answer) => one.map((check: Answer) => check.Code)),
        [
          [9, 11, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12],
          [9, 11, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12],
        ],
      )
      assert.equal(
        checks.flat().every((check: Answer) => check.OK),
        true,
      )
      const [proto] = await rpc.call('MpoolCheckMessages', [
        { Message: { ...sent[1].Message, Nonce: 1 }, ValidNonce: true },
      ])
      assert.match(
        proto.find((check: Answer) => check.Code === 10).Err,
        /^message nonce doesn't match next nonce \(\d+\)$/,
      )
      const replaced = await rpc.call('MpoolCheckReplaceMessages', [
        { ...sent[0].Message, GasFeeCap: '99', GasPremium: '1' },
      ])
      assert.equal(replaced.length, 2)
      assert.equal(replaced[0].find((check: Answer) => check.Code === 5).OK, false)
      assert.deepEqual(await rpc.call('MpoolSelect', [], 1), sent)
      await rpc.call('MpoolClear', true)
      assert.deepEqual(await rpc.call('MpoolPending', []), [])
      assert.equal(await rpc.call('MpoolSelect', [], 1), null)
      assert.deepEqual(
        await rpc.call('MpoolBatchPush', sent),
        sent.map((one: Answer) => one.CID),
      )
      const config = await rpc.call('MpoolGetConfig')
      assert.deepEqual(config, {
        PriorityAddrs: null,
        SizeLimitHigh: 30_000,
        SizeLimitLow: 20_000,
        ReplaceByFeeRatio: 1.25,
        PruneCooldown: 60_000_000_000,
        GasLimitOverestimation: 1.25,
      })
      await rpc.call('MpoolSetConfig', { ...config, GasLimitOverestimation: 1.3 })
      const gas = await rpc.call('GasEstimateGasLimit', message, [])
      const priced = await rpc.call('GasEstimateMessageGas', message, null, [])
      assert.equal(priced.GasLimit, Math.trunc(gas * 1.3))
      await rpc.call('MpoolSetConfig', config)
      await mine(world, 3)
      assert.deepEqual(await rpc.call('MpoolPending', []), [])
    },
  },
]
