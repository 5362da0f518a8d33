/** The peer manager by a clock that the test moves. Numbers: lotus lib/peermgr/peermgr.go. */
import { expect, it } from 'vitest'
import { PeerBook } from '../../../src/p2p/peers/peerBook.ts'
import { PeerManager, type PeerManagerDeps } from '../../../src/p2p/peers/peerManager.ts'
import { silentLog } from '../../support/recordedView.ts'
import { VirtualTime } from '../../support/virtualTime.ts'

interface World {
  readonly time: VirtualTime
  readonly manager: PeerManager
  readonly book: PeerBook
  readonly connected: Set<string>
  /** What was dialled, in order. */
  readonly dialled: string[]
  /** Where. */
  readonly at: Map<string, readonly string[]>
  readonly unreachable: Set<string>
  /** Neither answers nor refuses. */
  readonly silent: Set<string>
  readonly refused: Set<string>
  /** Who came by himself. */
  readonly came: Set<string>
  readonly useful: Set<string>
  readonly pardoned: string[]
  refreshes: number
  /** A look into the DHT does not end. */
  isDhtSilent: boolean
}

function world(bootstrap: string[], connected: string[] = []): World {
  const time = new VirtualTime()
  const state = {
    time,
    book: new PeerBook(100),
    connected: new Set(connected),
    dialled: [] as string[],
    at: new Map<string, readonly string[]>(),
    unreachable: new Set<string>(),
    silent: new Set<string>(),
    refused: new Set<string>(),
    came: new Set<string>(),
    useful: new Set<string>(),
    pardoned: [] as string[],
    refreshes: 0,
    isDhtSilent: false,
  }
  const dial = (name: string): Promise<void> => {
    state.dialled.push(name)
    if (state.silent.has(name)) return new Promise(() => undefined)
    if (state.unreachable.has(name)) return Promise.reject(new Error('unreachable'))
    state.connected.add(name)
    return Promise.resolve()
  }
  const deps: PeerManagerDeps = {
    connected: () => [...state.connected],
    filecoinPeers: () => [...state.connected],
    isDialled: (peer) => !state.came.has(peer),
    isUseful: (peer) => state.useful.has(peer),
    dial: (peer, addresses) => {
      state.at.set(peer, addresses)
      return dial(peer)
    },
    dialAddress: dial,
    refreshDht: () => {
      state.refreshes++
      return state.isDhtSilent ? new Promise(() => undefined) : Promise.resolve()
    },
    isRefused: (peer) => state.refused.has(peer),
    turnedAway: () => [...state.refused].map((peer) => ({ peer, reason: 'test' })),
    pardon: (peer) => {
      state.refused.delete(peer)
      state.pardoned.push(peer)
    },
    demerits: () => 0,
    book: state.book,
    bootstrap,
    clock: time,
    timers: time,
    log: silentLog,
  }
  return Object.assign(state, { manager: new PeerManager(deps) })
}

it('alone, it dials the bootstrap list; not again before a while when that fails', async () => {
  const w = world(['/dns4/a/tcp/1', '/dns4/b/tcp/1'])
  w.unreachable.add('/dns4/a/tcp/1').add('/dns4/b/tcp/1')
  w.manager.start()
  await w.time.settle()
  expect(w.dialled).toEqual(['/dns4/a/tcp/1', '/dns4/b/tcp/1'])
  // 5, 10, 20, 30, 30 s between attempts.
  await w.time.advance(124_000)
  expect(w.dialled.length).toBe(2 * 6)
  w.unreachable.clear()
  await w.time.advance(30_000)
  expect(w.connected.size).toBe(2)
  w.manager.stop()
  expect(w.time.pending).toBe(0)
})

it('with some, it dials those it has heard of and met, then asks the DHT, once a minute', async () => {
  const w = world(['/dns4/a/tcp/1'], ['one'])
  w.book.seen('met', ['/ip4/1.2.3.4/tcp/1'], 1)
  w.manager.heardOf('lead', ['/ip4/1.2.3.5/tcp/1'])
  w.manager.heardOf('nowhere', [])
  w.manager.heardOf('banned', ['/ip4/1.2.3.6/tcp/1'])
  w.refused.add('banned')
  w.manager.start()
  await w.time.settle()
  expect(w.dialled).toEqual(['lead', 'met'])
  await w.time.advance(60_000)
  expect(w.refreshes).toBe(2)
  w.manager.stop()
})

it('a look into the DHT that does not end holds up nothing, and is given up before the next', async () => {
  const w = world(['/dns4/a/tcp/1'], ['one'])
  w.isDhtSilent = true
  w.manager.start()
  await w.time.settle()
  expect([w.refreshes, w.dialled]).toEqual([1, []])
  w.connected.clear()
  await w.time.advance(5000)
  expect(w.dialled).toEqual(['/dns4/a/tcp/1'])
  await w.time.advance(60_000)
  expect(w.refreshes).toBe(2)
  w.manager.stop()
  await w.time.settle()
  expect(w.time.pending).toBe(0)
})

it('with enough, it does nothing; it counts every 5 s', async () => {
  const peers = Array.from({ length: 12 }, (_, i) => `peer${i}`)
  const w = world(['/dns4/a/tcp/1'], peers)
  w.manager.heardOf('lead', ['/ip4/1.2.3.5/tcp/1'])
  w.manager.start()
  await w.time.advance(60_000)
  expect([w.dialled, w.refreshes]).toEqual([[], 0])
  w.connected.delete('peer0')
  await w.time.advance(5000)
  expect(w.dialled).toEqual(['lead'])
  w.manager.stop()
})

it('counts nobody who came by himself and was of no use yet', async () => {
  const sybils = Array.from({ length: 150 }, (_, i) => `sybil${i}`)
  const w = world(['/dns4/a/tcp/1'], sybils)
  for (const sybil of sybils) w.came.add(sybil)
  w.book.seen('met', ['/ip4/1.2.3.4/tcp/1'], 1)
  w.book.seen('friend', ['/ip4/1.2.3.4/tcp/2'], 1)
  w.book.useful('friend', 2)
  for (let i = 0; i < 100; i++) w.manager.heardOf(`lead${i}`, ['/ip4/9.9.9.9/tcp/1'])
  w.manager.start()
  await w.time.settle()
  expect(w.dialled.slice(0, 3)).toEqual(['/dns4/a/tcp/1', 'friend', 'lead99'])
  expect(w.dialled.length).toBeLessThanOrEqual(12 + 8)
  // Those that serve it count.
  const other = world(['/dns4/a/tcp/1'], sybils)
  for (const sybil of sybils) other.came.add(sybil)
  for (const sybil of sybils.slice(0, 12)) {
    other.book.seen(sybil, ['/ip4/9.9.9.9/tcp/1'], 1)
    other.useful.add(sybil)
  }
  other.manager.start()
  await other.time.advance(60_000)
  expect(other.dialled).toEqual([])
  expect(other.book.list().filter(({ isUseful }) => isUseful)).toHaveLength(12)
  for (const one of [w, other]) one.manager.stop()
})

it('never dials beyond what it wants, whatever strangers tell it', async () => {
  const w = world([], ['one'])
  for (let i = 0; i < 10_000; i++) w.manager.heardOf(`lead${i}`, ['/ip4/1.2.3.5/tcp/1'])
  w.manager.start()
  await w.time.settle()
  expect(w.connected.size).toBeLessThanOrEqual(12 + 8)
  w.manager.stop()
})

it('keeps few and short addresses of who it hears of', async () => {
  const w = world([], ['one'])
  const many = Array.from({ length: 50 }, (_, i) => `/ip4/9.9.9.9/tcp/${i}`)
  w.manager.heardOf('many', ['x'.repeat(5000), ...many])
  w.manager.heardOf('none', ['x'.repeat(5000)])
  w.manager.start()
  await w.time.settle()
  expect([...w.at]).toEqual([['many', many.slice(0, 8)]])
  w.manager.stop()
})

it('gives up a dial that does not end, and looks on', async () => {
  const w = world([], ['one'])
  w.book.seen('silent', ['/ip4/1.2.3.4/tcp/1'], 1)
  w.silent.add('silent')
  w.manager.start()
  await w.time.advance(29_999)
  w.manager.heardOf('lead', ['/ip4/1.2.3.5/tcp/1'])
  expect(w.dialled).toEqual(['silent'])
  await w.time.advance(5001)
  expect(w.dialled).toContain('lead')
  w.manager.stop()
})

it('alone it tries whom it knows once a minute, however long nobody answered', async () => {
  const w = world([])
  w.book.seen('gone', ['/ip4/1.2.3.4/tcp/1'], 1)
  w.unreachable.add('gone')
  w.manager.start()
  await w.time.advance(6 * 3_600_000)
  w.unreachable.clear()
  await w.time.advance(65_000)
  expect([...w.connected]).toEqual(['gone'])
  w.manager.stop()
})

it('that a peer is of use is written down with the next look, other news once a minute', async () => {
  const w = world([], ['friend', 'stranger'])
  let saved = 0
  w.book.saveAside = () => {
    saved++
    return Promise.resolve()
  }
  w.manager.start()
  await w.time.advance(12_000)
  w.manager.met('friend', ['/ip4/1.2.3.4/tcp/1'])
  w.manager.met('stranger', ['/ip4/1.2.3.5/tcp/1'])
  await w.time.advance(10_000)
  expect(saved).toBe(1)
  w.useful.add('friend')
  await w.time.advance(5000)
  expect([saved, w.book.find('friend')?.isUseful]).toEqual([2, true])
  await w.time.advance(20_000)
  expect(saved).toBe(2)
  await w.time.advance(40_000)
  expect(saved).toBe(3)
  w.manager.stop()
})

it('ends where the disk is full', () => {
  const w = world([])
  w.manager.start()
  w.book.save = () => {
    throw new Error('the disk is full')
  }
  expect(() => w.manager.stop()).not.toThrow()
  expect(w.time.pending).toBe(0)
})

it('those that do not answer are asked less and less', async () => {
  const w = world([], ['one'])
  w.book.seen('gone', ['/ip4/1.2.3.4/tcp/1'], 1)
  w.unreachable.add('gone')
  w.manager.start()
  await w.time.advance(1_200_000)
  // 5 s, 10 s, … 640 s: eight waits and the first attempt.
  expect(w.dialled.length).toBeLessThanOrEqual(10)
  w.manager.stop()
})

it('alone, it tries those that it turned away, the best first; with anybody else it does not', async () => {
  const w = world([])
  for (const name of ['best', 'next', 'unknown']) w.refused.add(name)
  for (const name of ['best', 'next']) w.book.seen(name, [`/ip4/1.2.3.4/tcp/${name.length}`], 1)
  w.unreachable.add('best')
  w.connected.add('friend')
  w.manager.start()
  await w.time.advance(60_000)
  expect(w.pardoned).toEqual([])
  w.connected.clear()
  await w.time.advance(10_000)
  expect(w.pardoned).toEqual(['best', 'next'])
  expect([...w.connected]).toEqual(['next'])
  await w.time.advance(60_000)
  expect(w.pardoned).toEqual(['best', 'next'])
  w.manager.stop()
})
