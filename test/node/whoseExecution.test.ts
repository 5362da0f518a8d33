/** Whom a node has something executed for: what it sends matters more than what callers ask, whichever is tried in the same way. */
import { beforeAll, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { URGENCY, type UrgencyLevel } from '../../src/chain/urgency.ts'
import { type VmCall, vmHost } from '../../src/chain/vm.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { DEFAULT_SEND_SPEC } from '../../src/mempool/sendSpec.ts'
import { openMempool } from '../../src/node/messagePool.ts'
import type { CallContext, CallRow } from '../../src/rpc/method.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { devnetNode, signedBy } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'
import { realTimers } from '../sync/follower.ts'

beforeAll(async () => void (await initCrypto()))

it('tries a send for the node itself, and an estimate for its caller', async () => {
  const { view, vm, plan, devnet } = devnetNode()
  await devnet.mine()
  const account = plan.accounts[0] as FundedAccount
  const asked: [VmCall['method'], UrgencyLevel][] = []
  const watched = vmHost((call, signal) => {
    asked.push([call.method, call.urgency?.level ?? URGENCY.caller])
    return vm.run(call, signal)
  })
  const wallet = {
    signMessage: async (_from: unknown, message: Parameters<typeof signedBy>[1]) => signedBy(account, message),
    isKeyHere: async () => true,
  } as unknown as Wallet
  const mempool = await openMempool(
    { view, vm: watched, meta: new MemoryStore(), wallet, executes: true },
    {},
    {
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      timers: realTimers,
      random: { fill: (out) => void out.fill(1) },
      log: silentLog,
    },
  )
  const { message } = signedBy(account, { to: account.address, value: 1n, gasLimit: 0n, gasFeeCap: 0n, gasPremium: 0n })
  await mempool.sender.send(message, DEFAULT_SEND_SPEC)
  expect(new Map(asked)).toEqual(
    new Map([
      ['tipsetState', URGENCY.own],
      ['callWithGas', URGENCY.own],
    ]),
  )
  asked.length = 0
  const row = mempool.rows.find(({ name }) => name === 'GasEstimateGasLimit') as CallRow
  await row.handle([message, []], { signal: new AbortController().signal } as CallContext)
  expect(asked).toEqual([['callWithGas', URGENCY.caller]])
  mempool.pool.close()
})
