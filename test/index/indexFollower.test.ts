/** A replica's follower, whose index hangs, is ahead of all blocks that can be had, or is behind what the replica kept. */
import { beforeAll, expect, test } from 'vitest'
import { IndexFollower } from '../../src/index/indexFollower.ts'
import type { IndexReader, IndexStanding } from '../../src/index/indexReader.ts'
import { FOLLOW_MS, STANDING_MS } from '../../src/index/limits.ts'
import { tipsetName } from '../../src/index/tipsetRows.ts'
import { allAtHand, type BlockEdge } from '../../src/ipld/blockFetcher.ts'
import { replicaHealth } from '../../src/node/openReplica.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { headersOnly } from './askedNode.ts'
import { type Exchange, exchangeChain } from './indexedChain.ts'

const { signal } = new AbortController()
/** Between two looks, at most. */
const SECOND = 1000
let exchange: Exchange
beforeAll(async () => {
  exchange = await exchangeChain()
  for (let i = 0; i < 4; i++) await exchange.mine()
}, 60_000)

/** Of an index whose newest tipset is final. */
function standingAt(tipset: Tipset): IndexStanding {
  const { height } = tipset
  const key = tipset.key.map(String)
  return { first: 0, height, finalHeight: height, tipset: tipsetName(tipset), hasAnchor: true, key, finalKey: key }
}

/** A follower whose home has all headers; `stands`: where its index is, undefined: that hangs. */
function followerOf(stands: Tipset | undefined, edge: BlockEdge = allAtHand) {
  const view = headersOnly(exchange.node.view)
  const index = { stands }
  const standing = async (): Promise<IndexStanding> => {
    if (index.stands !== undefined) return standingAt(index.stands)
    return new Promise<never>(() => undefined)
  }
  const time = new VirtualTime()
  const follower = new IndexFollower({
    ...{ view, reader: { standing } as unknown as IndexReader },
    ...{ edge, clock: time, timers: time, log: silentLog },
  })
  return { follower, store: view.store, time, index }
}

test('one whose index hangs says since when, and that it is not ready', async () => {
  const head = exchange.node.store.head()
  const { follower, time, index } = followerOf(head)
  await follower.reachFirst(signal, () => undefined)
  const answered = new Date(time.nowMs()).toISOString()
  follower.start()
  await time.settle()
  index.stands = undefined
  await time.advance(STANDING_MS)
  expect(follower.status).toEqual({ indexHeight: head.height, trouble: '' })
  for (let i = 0; i < 3; i++) {
    await time.advance(SECOND)
    expect(replicaHealth(follower.status, head.height)).toEqual({
      ok: false,
      text: `replica at epoch ${head.height}, an unknown number of epochs behind its index: the index has not answered since ${answered}`,
    })
    await time.advance(STANDING_MS)
  }
  index.stands = head
  await time.advance(STANDING_MS + SECOND)
  expect(follower.status).toEqual({ indexHeight: head.height, trouble: '' })
  // Nor is it waited for at the end.
  index.stands = undefined
  await time.advance(SECOND)
  await follower.stop()
})

test('one that waits for an index at its start is told when that hangs', async () => {
  const { follower, time } = followerOf(undefined)
  const asked = new Date(time.nowMs()).toISOString()
  const said: string[] = []
  const leaving = new AbortController()
  const reached = follower.reachFirst(leaving.signal, (text) => said.push(text))
  await time.advance(3 * STANDING_MS)
  expect(said).toEqual([`waiting for the index: the index has not answered since ${asked}`])
  leaving.abort(new Error('enough'))
  await expect(reached).rejects.toThrow('enough')
})

test('one whose blocks do not come says so', async () => {
  const { store } = exchange.node
  const edge = async <T>(): Promise<T> => new Promise<never>(() => undefined)
  const { follower, time } = followerOf(store.parent(store.head()), edge)
  follower.start()
  await time.advance(FOLLOW_MS - 1)
  expect(follower.status.trouble).toBe('')
  await time.advance(1)
  expect(follower.status.trouble).toBe('blocks of the head of the index do not come')
  await follower.stop()
})

test('one that has kept a higher head than its index has stands there after a start, too', async () => {
  const source = exchange.node.store
  const head = source.head()
  const restored = source.parent(source.parent(head))
  const { follower, store, time, index } = followerOf(restored)
  await follower.reachFirst(signal, () => undefined)
  const text = `the index has gone back from epoch ${head.height} to ${restored.height}: restored, or a standby that was behind`
  expect(follower.status).toEqual({ indexHeight: restored.height, trouble: text })
  expect(store.head().height).toBe(head.height)
  expect(follower.final()?.height).toBe(restored.height)
  follower.start()
  index.stands = head
  await time.advance(SECOND)
  expect(follower.status).toEqual({ indexHeight: head.height, trouble: '' })
  expect(follower.final()?.height).toBe(head.height)
  await follower.stop()
})
