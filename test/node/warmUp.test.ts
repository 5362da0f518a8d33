/** The newest tipsets, executed again after a start: on a local chain, whose machine is watched. */
import { beforeAll, expect, it } from 'vitest'
import { ChainError } from '../../src/chain/errors.ts'
import { type VmCall, vmHost } from '../../src/chain/vm.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { warmUpLater } from '../../src/node/warmUp.ts'
import { devnetNode } from '../support/devnetNode.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'

beforeAll(async () => void (await initCrypto()))

/** @param msOf - what an execution of a height takes */
async function chainOf(height: number, msOf: (height: number) => number) {
  const { view, vm, devnet } = devnetNode()
  for (let epoch = 0; epoch < height; epoch++) await devnet.mine()
  const time = new VirtualTime()
  const heights: number[] = []
  const watched = vmHost(async (call: VmCall, signal) => {
    if (signal?.aborted === true) throw new ChainError('CANCELLED', 'it was cancelled')
    heights.push(call.tipset.height)
    await new Promise<void>((resolve) => time.setTimeout(resolve, msOf(call.tipset.height)))
    return vm.run(call, signal)
  })
  const said: unknown[] = []
  const log = { ...silentLog, debug: (_text: string, fields: unknown) => void said.push(fields) }
  const start = (totalMs: number): (() => void) =>
    warmUpLater({ store: view.store, vm: watched, executions: { totalMs } }, { clock: time, timers: time, log })
  return { time, heights, said, start }
}

it('executes the newest ones, newest first, two seconds after a start, for a second', async () => {
  const { time, heights, start } = await chainOf(5, (height) => (height === 5 ? 10 : 600))
  start(0)
  await time.advance(1999)
  expect(heights).toEqual([])
  await time.advance(10_000)
  // 10 ms, 610, and above a second with the third.
  expect(heights).toEqual([5, 4, 3])
})

it('all down to the genesis, and no more than 30', async () => {
  const short = await chainOf(2, () => 1)
  short.start(0)
  await short.time.advance(10_000)
  expect([short.heights, short.said]).toEqual([[2, 1, 0], []])
  const long = await chainOf(31, () => 1)
  long.start(0)
  await long.time.advance(10_000)
  expect(long.heights).toEqual(Array.from({ length: 30 }, (_, i) => 31 - i))
})

it('none where as much was executed meanwhile, and less where some was', async () => {
  const busy = await chainOf(3, () => 300)
  busy.start(1000)
  await busy.time.advance(10_000)
  expect(busy.heights).toEqual([])
  const other = await chainOf(3, () => 300)
  other.start(500)
  await other.time.advance(10_000)
  expect(other.heights).toEqual([3, 2])
})

it('nothing after the end, and no further', async () => {
  const early = await chainOf(3, () => 10)
  early.start(0)()
  await early.time.advance(10_000)
  expect([early.heights, early.time.pending]).toEqual([[], 0])
  const late = await chainOf(3, () => 10)
  const end = late.start(0)
  await late.time.advance(2005)
  end()
  await late.time.advance(10_000)
  expect(late.heights).toEqual([3])
})

it('what cannot be executed ends it, and is no warning', async () => {
  const { time, heights, said, start } = await chainOf(3, (height) => {
    if (height === 2) throw new ChainError('NOT_FOUND', 'its state is not kept')
    return 1
  })
  start(0)
  await time.advance(10_000)
  expect([heights, said]).toEqual([[3, 2], [{ reason: 'its state is not kept' }]])
})
