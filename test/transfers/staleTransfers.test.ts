/** Transfers that were read before the chain told what the tipset left. */
import { expect, it } from 'vitest'
import { vmHost } from '../../src/chain/vm.ts'
import { TransferReader } from '../../src/transfers/tipsetTransfers.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { exchangeChain } from '../index/indexedChain.ts'

it('are read again when the next tipset says otherwise, and no more where it does not', async () => {
  const { node, mine } = await exchangeChain()
  const { store, view, vm } = node
  const tipset = await mine()
  const real = await vm.computeCalls(tipset)
  const presumed = { root: firstBlock(tipset).parentStateRoot, trace: real.trace.slice(0, 1) }
  let asked = 0
  const reader = new TransferReader(
    view,
    vmHost(async (call, signal) => {
      if (call.method !== 'compute') return vm.run(call, signal)
      asked++
      return store.head() === tipset ? presumed : real
    }),
  )
  const transfers = async (): Promise<number> => (await reader.read(tipset)).transfers.length
  const first = await transfers()
  expect(await transfers()).toBe(first)
  expect(asked).toBe(1)
  await mine()
  const now = await transfers()
  expect(now).toBeGreaterThan(first)
  expect([await transfers(), asked]).toEqual([now, 2])
  expect((await reader.read(tipset)).root.equals(real.root)).toBe(true)
})
