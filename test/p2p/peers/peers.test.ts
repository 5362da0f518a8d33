/** Bans, books, backoffs, tags, rates: what is remembered of peers, and its bounds. */
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import { MAX_KEPT_ADDRESS_LENGTH, MAX_KEPT_ADDRESSES } from '../../../src/p2p/limits.ts'
import { Backoff } from '../../../src/p2p/peers/backoff.ts'
import { BAN_POLICY, Bans } from '../../../src/p2p/peers/bans.ts'
import { BlockList } from '../../../src/p2p/peers/blockList.ts'
import { Demerits } from '../../../src/p2p/peers/demerits.ts'
import { PeerBook } from '../../../src/p2p/peers/peerBook.ts'
import { PeerTags } from '../../../src/p2p/peers/peerTags.ts'
import { TokenBucket } from '../../../src/p2p/peers/tokenBucket.ts'
import { peersToTrim, type TrimCandidate } from '../../../src/p2p/peers/trimConnections.ts'
import { VirtualTime } from '../../support/virtualTime.ts'

const HOUR = 3_600_000
const LIE = { fault: 'FALSE_ANSWER', reason: 'false block' } as const

describe('bans', () => {
  it('end, and are twice as long each time, a day at most', async () => {
    const time = new VirtualTime()
    const bans = new Bans(time)
    for (const hours of [1, 2, 4, 8, 16, 24, 24]) {
      bans.ban('liar', LIE)
      await time.advance(hours * HOUR - 1)
      expect(bans.isBanned('liar')).toBe(true)
      await time.advance(1)
      expect(bans.isBanned('liar')).toBe(false)
    }
    expect(bans.isBanned('other')).toBe(false)
  })

  it('are ended for the least bad when nobody else is left; the next one is longer all the same', async () => {
    const time = new VirtualTime()
    const bans = new Bans(time)
    bans.ban('twice', LIE)
    bans.ban('twice', LIE)
    await time.advance(1000)
    bans.ban('later', LIE)
    bans.ban('elsewhere', { fault: 'OTHER_GENESIS', reason: 'bafy' })
    await time.advance(1000)
    bans.ban('last', LIE)
    expect(bans.leastBad().map(({ peer }) => peer)).toEqual(['later', 'last', 'twice'])
    bans.pardon('later')
    expect(bans.isBanned('later')).toBe(false)
    bans.ban('later', LIE)
    expect(bans.list().find(({ peer }) => peer === 'later')?.untilMs).toBe(time.nowMs() + 2 * HOUR)
  })

  it('outlive the process, and are forgotten when they are long over', async () => {
    const time = new VirtualTime()
    const store = new MemoryStore()
    new Bans(time, store).ban('liar', LIE)
    expect(new Bans(time, store).list()).toEqual([
      { peer: 'liar', reason: 'false block', untilMs: time.nowMs() + HOUR },
    ])
    await time.advance(26 * HOUR)
    expect(new Bans(time, store).list()).toEqual([])
    expect([...store.keys()]).toEqual([])
  })

  it('that were given while the clock was ahead end after a day, over a restart too', async () => {
    const time = new VirtualTime()
    const store = new MemoryStore()
    const ahead = new VirtualTime(time.nowMs() + 10 * 365 * 24 * HOUR)
    new Bans(ahead, store).ban('liar', LIE)
    const bans = new Bans(time, store)
    expect(bans.list()).toMatchObject([{ peer: 'liar', untilMs: time.nowMs() + 24 * HOUR }])
    await time.advance(23 * HOUR)
    expect(bans.isBanned('liar')).toBe(true)
    await time.advance(HOUR)
    expect([bans.isBanned('liar'), new Bans(time, store).isBanned('liar')]).toEqual([false, false])
  })

  it('hold where the disk is full; the log tells of it', () => {
    const store = new MemoryStore()
    const full = (): never => {
      throw new Error('the disk is full')
    }
    Object.assign(store, { put: full, delete: full })
    const warned: unknown[] = []
    const log = { debug: () => {}, info: () => {}, warn: (what: string) => void warned.push(what), error: () => {} }
    const bans = new Bans(new VirtualTime(), store, { ...BAN_POLICY, limit: 2 }, log)
    for (const peer of ['a', 'b', 'c']) bans.ban(peer, LIE)
    expect(bans.list().map(({ peer }) => peer)).toEqual(['b', 'c'])
    expect(new Set(warned)).toEqual(new Set(['cannot write down the bans']))
  })

  it('are bounded, in the store too', () => {
    const store = new MemoryStore()
    const bans = new Bans(new VirtualTime(), store, { ...BAN_POLICY, limit: 10 })
    for (let i = 0; i < 100; i++) bans.ban(`peer${i}`, LIE)
    expect(bans.list()).toHaveLength(10)
    expect([...store.keys()]).toHaveLength(10)
    expect(bans.isBanned('peer99')).toBe(true)
    bans.lift('peer99')
    expect(bans.isBanned('peer99')).toBe(false)
  })
})

it('demerits add up and fade: half after five minutes', async () => {
  const time = new VirtualTime()
  const demerits = new Demerits(time)
  for (let i = 0; i < 8; i++) demerits.add('slow')
  expect([demerits.of('slow'), demerits.of('other')]).toEqual([8, 0])
  await time.advance(10 * 60_000)
  expect(demerits.of('slow')).toBe(2)
})

describe('peer book', () => {
  it('keeps those seen last, with few addresses, over a restart', () => {
    const store = new MemoryStore()
    const book = new PeerBook(3, store)
    for (let i = 0; i < 5; i++) book.seen(`peer${i}`, [`/ip4/1.2.3.${i}/tcp/1`], 1000 + i)
    book.seen('peer2', [], 2000)
    book.seen('nowhere', [], 2001)
    book.seen('many', Array.from({ length: 50 }, (_, i) => `/ip4/9.9.9.9/tcp/${i}`).concat('x'.repeat(5000)), 2002)
    book.save()
    const again = new PeerBook(3, store)
    expect(again.list().map(({ peer }) => peer)).toEqual(['many', 'peer2', 'peer4'])
    expect(again.find('peer2')).toEqual({
      peer: 'peer2',
      addresses: ['/ip4/1.2.3.2/tcp/1'],
      seenMs: 2000,
      isUseful: false,
    })
    expect(again.find('many')?.addresses).toHaveLength(8)
    expect([...store.keys()]).toHaveLength(3)
    again.forget('many')
    again.save()
    expect([...store.keys()]).toHaveLength(2)
  })

  it('keeps so many addresses of a peer, none that is too long', () => {
    const book = new PeerBook(1)
    const kept = (addresses: readonly string[]): readonly string[] | undefined => {
      book.seen('peer', addresses, 1000)
      return book.find('peer')?.addresses
    }
    const most = Array.from({ length: MAX_KEPT_ADDRESSES }, (_, i) => `/ip4/1.2.3.4/tcp/${i}`)
    expect(kept(most)).toEqual(most)
    expect(kept([...most, '/ip4/1.2.3.4/tcp/9000'])).toEqual(most)
    const longest = 'x'.repeat(MAX_KEPT_ADDRESS_LENGTH)
    expect(kept([`${longest}x`, longest])).toEqual([longest])
  })

  it('has what could not be written with the next', async () => {
    const store = new MemoryStore()
    const book = new PeerBook(3, store)
    book.seen('peer', ['/ip4/1.2.3.4/tcp/1'], 1000)
    const commit = store.commit.bind(store)
    store.commit = () => Promise.reject(new Error('the disk is full'))
    await expect(book.saveAside()).rejects.toThrow('the disk is full')
    expect(new PeerBook(3, store).size).toBe(0)
    store.commit = commit
    await book.saveAside()
    expect(new PeerBook(3, store).find('peer')?.seenMs).toBe(1000)
  })

  it('keeps those that were of use, however many others come, over a restart', () => {
    const store = new MemoryStore()
    const book = new PeerBook(4, store)
    const meet = (of: PeerBook, from: number, count: number): void => {
      for (let i = from; i < from + count; i++) of.seen(`sybil${i}`, [`/ip4/9.9.9.9/tcp/${i}`], 2000 + i)
    }
    for (const name of ['first', 'second']) {
      book.seen(name, ['/ip4/1.2.3.4/tcp/1'], 1000)
      book.useful(name, 1001)
    }
    book.useful('never met', 1001)
    meet(book, 0, 100)
    expect(book.list().map(({ peer }) => peer)).toEqual(['second', 'first', 'sybil99', 'sybil98'])
    book.seen('first', [], 3000)
    book.save()
    const again = new PeerBook(4, store)
    meet(again, 100, 100)
    expect(again.list().map(({ peer }) => peer)).toEqual(['first', 'second', 'sybil199', 'sybil198'])
    // Of those that were of use the one seen longest ago goes first.
    for (const name of ['third', 'fourth', 'fifth']) {
      again.seen(name, ['/ip4/1.2.3.4/tcp/1'], 4000)
      again.useful(name, 4001)
    }
    expect(again.list().map(({ peer }) => peer)).toEqual(['fifth', 'fourth', 'third', 'first'])
  })

  it('reads records from before they told who was of use', () => {
    const store = new MemoryStore()
    store.put(new TextEncoder().encode('p2p/peer/old'), new TextEncoder().encode('[["/ip4/1.2.3.4/tcp/1"],7]'))
    expect(new PeerBook(3, store).list()).toEqual([
      { peer: 'old', addresses: ['/ip4/1.2.3.4/tcp/1'], seenMs: 7, isUseful: false },
    ])
  })

  it('drops what it cannot read', () => {
    const store = new MemoryStore()
    store.put(new TextEncoder().encode('p2p/peer/bad'), new TextEncoder().encode('{'))
    const book = new PeerBook(3, store)
    expect(book.size).toBe(0)
    book.save()
    expect([...store.keys()]).toEqual([])
  })
})

it('the block list: peers, addresses in any form, subnets; kept; all or nothing', () => {
  const store = new MemoryStore()
  const list = new BlockList(store)
  const none = { peers: [], addresses: [], subnets: [] }
  list.add({ peers: ['a'], addresses: ['::ffff:1.2.3.4', '2001:DB8::1'], subnets: ['10.9.9.9/8'] })
  expect(() => list.add({ ...none, peers: ['b'], addresses: ['nonsense'] })).toThrowError(
    'error parsing IP address nonsense',
  )
  expect(() => list.add({ ...none, subnets: ['1.2.3.4'] })).toThrowError(
    'error parsing subnet 1.2.3.4: invalid CIDR address: 1.2.3.4',
  )
  const again = new BlockList(store)
  expect(again.list()).toEqual({ peers: ['a'], addresses: ['1.2.3.4', '2001:db8::1'], subnets: ['10.0.0.0/8'] })
  expect(['1.2.3.4', '10.1.1.1', '2001:db8:0::1', '1.2.3.5', 'x'].map((ip) => again.hasAddress(ip))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
  again.remove({ peers: ['a'], addresses: ['1.2.3.4'], subnets: ['10.0.0.0/8'] })
  expect(again.list()).toEqual({ ...none, addresses: ['2001:db8::1'] })
})

it('waits double with each failure up to the longest; success forgets them', () => {
  const backoff = new Backoff({ firstMs: 10, longestMs: 35, limit: 2 })
  let now = 0
  for (const wait of [10, 20, 35, 35]) {
    backoff.failed('a', now)
    expect(backoff.mayTry('a', now + wait - 1)).toBe(false)
    now += wait
    expect(backoff.mayTry('a', now)).toBe(true)
  }
  backoff.succeeded('a')
  backoff.failed('a', now)
  expect(backoff.mayTry('a', now + 10)).toBe(true)
  backoff.failed('b', now)
  backoff.failed('c', now)
  expect(backoff.mayTry('a', now)).toBe(true)
})

it('tags add up; protection has reasons', () => {
  const tags = new PeerTags()
  tags.tag('a', 'one', 10)
  tags.tag('a', 'two', 5)
  tags.tag('a', 'one', 7)
  expect(tags.value('a')).toBe(12)
  tags.tag('a', 'two', 0)
  expect([...tags.tagsOf('a')]).toEqual([['one', 7]])
  tags.protect('a', 'api')
  tags.protect('a', 'bootstrap')
  tags.unprotect('a', 'api')
  expect([tags.isProtected('a'), tags.isProtected('a', 'api'), tags.isProtected('b')]).toEqual([true, false, false])
  tags.forget('a')
  expect([tags.value('a'), tags.isProtected('a')]).toEqual([0, true])
})

it('a bucket has its burst, and fills with time', () => {
  const bucket = new TokenBucket({ burst: 3, perSecond: 2 }, 0)
  expect([0, 0, 0, 0, 499, 500, 500, 100_000].map((now) => bucket.take(now))).toEqual([
    true,
    true,
    true,
    false,
    false,
    true,
    false,
    true,
  ])
  expect([bucket.take(100_000), bucket.take(100_000), bucket.take(100_000)]).toEqual([true, true, false])
})

const connected = (
  name: string,
  value: number,
  sinceMs: number,
  given: Partial<TrimCandidate> = {},
): TrimCandidate => ({
  ...{ peer: name, value, sinceMs, connections: 1, isProtected: false, isUseful: false },
  ...given,
})

it('the least valuable are cut first, of equal ones the youngest; the protected and the new are not', () => {
  const all = [
    connected('good', 10, 1),
    connected('old', 0, 1),
    connected('young', 0, 5),
    connected('new', 0, 100),
    connected('kept', 0, 1, { isProtected: true }),
    connected('double', -1, 1, { connections: 2 }),
  ]
  expect(peersToTrim(all, 4, 50)).toEqual(['double', 'young'])
  expect(peersToTrim(all, 0, 50)).toEqual(['double', 'young', 'old', 'good'])
  expect(peersToTrim(all, 7, 50)).toEqual([])
})

it('nobody of use makes room for those that come again and again, unless more are of use than are kept', () => {
  const honest = Array.from({ length: 3 }, (_, i) => connected(`honest ${i}`, 80, i, { isUseful: true }))
  const young = Array.from({ length: 20 }, (_, i) => connected(`young ${i}`, 30, 100))
  expect(peersToTrim([...young, ...honest], 10, 50)).toEqual([])
  expect(peersToTrim([...young, connected('stranger', 30, 4), ...honest], 10, 50)).toEqual(['stranger'])
  expect(peersToTrim([...young, ...honest], 2, 50)).toEqual(['honest 2', 'honest 1', 'honest 0'])
})
