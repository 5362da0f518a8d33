/** A disk that gives errors while a timer of the syncer fires: nothing ends, and what was due comes later. */
import { beforeAll, expect, it } from 'vitest'
import { initCrypto } from '../../src/crypto/init.ts'
import { P2pError } from '../../src/p2p/errors.ts'
import { SYNC_AGAIN_MS } from '../../src/sync/limits.ts'
import { SyncScheduler } from '../../src/sync/scheduler.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { headName, laterClock, RecordedSource, settled, withMessages } from './follower.ts'
import { follow, nameOf } from './offers.ts'
import { createWorld } from './world.ts'

beforeAll(initCrypto)

const [FIRST_MS, SECOND_MS] = SYNC_AGAIN_MS as [number, number]

function readError(): Error {
  return new Error('Cannot read the store: EIO')
}

it('the head that a peer told of is asked for again after that', async () => {
  const world = createWorld(2)
  const head = (await world.chain(world.genesis, 3)).at(-1) as Tipset
  const source = new RecordedSource(world.view, { fail: () => true })
  const time = new VirtualTime(laterClock.nowMs())
  const follower = follow(world, { source, time })
  const weight = firstBlock(head).parentWeight + 1n
  follower.syncer.offerHead('peer', { key: head.key, height: head.height, weight })
  await settled(follower.syncer)
  source.faults.fail = () => false
  const { get } = follower.blocks
  follower.blocks.get = () => {
    throw readError()
  }
  await time.advance(FIRST_MS)
  expect(follower.syncer.awaitedHead).toBe(head.height)
  follower.blocks.get = get
  await time.advance(SECOND_MS)
  await settled(follower.syncer)
  expect(headName(follower.store)).toBe(nameOf(head))
  await follower.syncer.stop()
})

it('blocks of two epochs, named as one head, are given up when both have come', async () => {
  const world = createWorld(1)
  const [, lower, upper] = (await world.chain(world.genesis, 3)) as [Tipset, Tipset, Tipset]
  const source = new RecordedSource(world.view, { fail: () => true })
  const time = new VirtualTime(laterClock.nowMs())
  const follower = follow(world, { source, time })
  const claim = { key: [...lower.key, ...upper.key], height: upper.height, weight: 10n ** 30n }
  follower.syncer.offerHead('hostile', claim)
  await settled(follower.syncer)
  for (const tipset of [lower, upper]) follower.syncer.offerTipset('another', withMessages(world.view, tipset))
  await time.advance(FIRST_MS)
  expect(follower.syncer.awaitedHead).toBeUndefined()
  await follower.syncer.stop()
})

interface Scheduled {
  readonly scheduler: SyncScheduler
  readonly time: VirtualTime
  readonly ran: number[]
  readonly disk: { fails: boolean }
}

/** @param fails - whether the n-th run does */
function schedule(run: (n: number) => Promise<void>): Scheduled {
  const time = new VirtualTime()
  const ran: number[] = []
  const disk = { fails: false }
  const scheduler = new SyncScheduler({
    ...{ clock: time, timers: time, log: silentLog, threshold: 1 },
    mayWin: () => {
      if (disk.fails) throw readError()
      return true
    },
    run: ({ target }) => {
      ran.push(target.height)
      return run(ran.length)
    },
  })
  return { scheduler, time, ran, disk }
}

it('a target that was not to be had is tried again after that', async () => {
  const { scheduler, time, ran, disk } = schedule(async (n) => {
    if (n === 1) throw new P2pError('ALL_PEERS_FAILED', 'all peers failed')
  })
  scheduler.offer('peer', createTipset([header(undefined, 7, 0)]))
  await time.settle()
  disk.fails = true
  await time.advance(FIRST_MS)
  disk.fails = false
  await time.advance(SECOND_MS)
  expect(ran).toEqual([7, 7])
  await scheduler.stop()
})

it('a target that waits for a worker gets one after that', async () => {
  const ended = Promise.withResolvers<void>()
  const { scheduler, time, ran, disk } = schedule((n) => (n === 1 ? ended.promise : Promise.resolve()))
  scheduler.offer('peer', createTipset([header(undefined, 7, 0)]))
  await time.settle()
  scheduler.offer('peer', createTipset([header(undefined, 9, 0)]))
  disk.fails = true
  ended.resolve()
  await time.settle()
  expect(scheduler.isWorking).toBe(false)
  disk.fails = false
  await time.advance(FIRST_MS)
  expect(ran).toEqual([7, 9])
  await scheduler.stop()
})
