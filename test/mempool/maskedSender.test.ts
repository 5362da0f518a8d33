/** Ethereum's clients may estimate a call of any sender, IDs that are masked as addresses included. */
import { expect, test } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { estimateEthGas } from '../../src/mempool/gas/ethEstimate.ts'
import { openMempool } from '../../src/node/messagePool.ts'
import { idAddress } from '../../src/types/address.ts'
import type { Wallet } from '../../src/wallet/wallet.ts'
import { devnetNode } from '../support/devnetNode.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { silent } from './fakes.ts'

test('the gas of a call is estimated for senders that have no key', async () => {
  const node = devnetNode({ miners: 1, accountsPerKind: 1 })
  await node.devnet.mine(1)
  const time = new FakeTime()
  const random = { fill: (bytes: Uint8Array) => void bytes.fill(7) }
  const deps = { view: node.view, vm: node.vm, meta: new MemoryStore(), wallet: {} as Wallet, executes: true }
  const { pool, gas } = await openMempool(deps, {}, { clock: time, timers: time, log: silent, random })
  const to = node.plan.accounts.find(({ kind }) => kind === 'delegated')?.address
  if (to === undefined) throw new Error('the plan has an account of each kind')
  const call = {
    version: 0,
    to,
    nonce: 0n,
    value: 0n,
    gasLimit: 0n,
    gasFeeCap: 0n,
    gasPremium: 0n,
    params: new Uint8Array(0),
  }
  const estimate = (from: bigint): Promise<bigint> =>
    estimateEthGas({ ...call, from: idAddress(from), method: 3_844_450_837n }, node.store.head(), {
      ...gas,
      applyCall: () => Promise.resolve(undefined as never),
    })
  // An account and a miner.
  for (const id of [100n, 1_000n]) expect(await estimate(id)).toBeGreaterThan(21_000n)
  pool.close()
})
