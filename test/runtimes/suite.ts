/**
 * What a node does, seen from outside: over HTTP, or over a message port of the tab. The same steps in every runtime; they
 * build on each other, on one local chain that makes blocks only when it is told to.
 */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, RpcClient, RpcFailure } from '../support/rpcClient.ts'
import type { NodeClient, NodeHost, RunningNode } from './nodeHost.ts'

const FIL = 10n ** 18n
const PLAIN = { Version: 0, Nonce: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0', Method: 0, Params: null }
const INVOKE_EVM = 3844450837

/** What the steps share. */
export interface World {
  readonly host: NodeHost
  node: RunningNode
  rpc: NodeClient
  /** Funded secp256k1 account. */
  funded: string
  /** Address made by the wallet. */
  fresh: string
  /** The send of step "a transfer". */
  sent: Answer
}

/** One behaviour. */
export interface Step {
  readonly name: string
  /** What no tab has: files, HTTP. */
  readonly only?: 'http'
  run(world: World): Promise<void>
}

async function mine(world: World, count = 1, options: unknown = null): Promise<Answer> {
  return await world.rpc.call('DevnetMine', count, options)
}

async function restart(world: World): Promise<void> {
  world.node = await world.host.start()
  world.rpc = world.node.client(world.node.token)
}

const send = (world: World, to: string, value: bigint | number, extra: object = {}, spec: unknown = null) =>
  world.rpc.call('MpoolPushMessage', { ...PLAIN, From: world.funded, To: to, Value: String(value), ...extra }, spec)

async function failure(promise: Promise<unknown>): Promise<RpcFailure> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof RpcFailure, 'expected the node to refuse')
  return error
}

/** All steps, in order. */
export const STEPS: readonly Step[] = [
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

/** A fresh node for the steps. */
export async function openWorld(host: NodeHost): Promise<World> {
  const node = await host.start()
  return { host, node, rpc: node.client(node.token), funded: '', fresh: '', sent: undefined }
}

/** Ends what the steps left. */
export async function closeWorld(world: World): Promise<void> {
  await world.node.kill()
  await world.host.dispose()
}

/** The default command: blocks by the clock, the first one within 3 s. */
export async function firstTipset(host: NodeHost): Promise<{ readonly ms: number; readonly startMs: number }> {
  const started = performance.now()
  const node = await host.start()
  try {
    const rpc = node.client()
    while ((await rpc.call('ChainHead')).Height < 1) {
      assert.equal(performance.now() - started < 30_000, true, 'no tipset in 30 s')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return { ms: performance.now() - started, startMs: node.startMs }
  } finally {
    await node.kill()
    await host.dispose()
  }
}
