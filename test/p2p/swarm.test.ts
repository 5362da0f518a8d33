/** What is remembered of questions to peers: of all together no more than so much, and of nobody so little that its answer is a flood. */
import { expect, it } from 'vitest'
import { MAX_REMEMBERED_ASKS, MUTE_MS } from '../../src/p2p/bitswap/limits.ts'
import { Swarm } from '../../src/p2p/bitswap/swarm.ts'
import { VirtualTime } from '../support/virtualTime.ts'

it('asks of all peers together are bounded; the one that was asked most forgets first', () => {
  const swarm = new Swarm(new VirtualTime())
  swarm.asks('honest', 'one')
  swarm.asks('honest', 'one')
  expect(swarm.remembered).toBe(1)
  const each = Math.floor(MAX_REMEMBERED_ASKS / 60)
  for (let i = 0; i < each; i++) for (let peer = 0; peer < 180; peer++) swarm.asks(`peer ${peer}`, `cid ${i}`)
  expect(swarm.remembered).toBeLessThanOrEqual(MAX_REMEMBERED_ASKS)
  expect(swarm.remembered).toBeGreaterThan(MAX_REMEMBERED_ASKS / 2)
  expect(swarm.brought('honest', 'one', true)).toBe(true)
  // The newest is expected of each.
  for (let peer = 0; peer < 180; peer++) expect(swarm.brought(`peer ${peer}`, `cid ${each - 1}`, false)).toBe(true)
  expect(swarm.brought('peer 0', 'cid 0', false)).toBe(false)
  for (let peer = 0; peer < 180; peer++) swarm.forget(`peer ${peer}`)
  expect(swarm.remembered).toBe(1)
})

it('at the bound nothing is forgotten; one ask more, and what was asked first of who was asked most is', () => {
  const peers = 8
  for (const [more, isExpected] of [
    [0, true],
    [1, false],
  ] as const) {
    const swarm = new Swarm(new VirtualTime())
    for (let i = 0; i < MAX_REMEMBERED_ASKS / peers; i++) {
      for (let peer = 0; peer < peers; peer++) swarm.asks(`peer ${peer}`, `cid ${i}`)
    }
    for (let i = 0; i < more; i++) swarm.asks('peer 0', `more ${i}`)
    expect(swarm.remembered === MAX_REMEMBERED_ASKS).toBe(isExpected)
    expect(swarm.brought('peer 0', 'cid 0', false)).toBe(isExpected)
    expect(swarm.brought('peer 1', 'cid 0', false)).toBe(true)
  }
})

it('what is expected no more is forgotten as others are asked for', async () => {
  const time = new VirtualTime()
  const swarm = new Swarm(time)
  for (let i = 0; i < 100; i++) swarm.asks('peer', `old ${i}`)
  await time.advance(10 * 60_000)
  // At the bound a late answer is still no flood.
  expect(swarm.brought('peer', 'old 0', true)).toBe(true)
  await time.advance(1)
  expect(swarm.brought('peer', 'old 1', true)).toBe(false)
  for (let i = 0; i < 20; i++) swarm.asks('peer', `new ${i}`)
  expect(swarm.remembered).toBe(20)
  for (let i = 0; i < 20; i++) expect(swarm.brought('peer', `new ${i}`, true)).toBe(true)
})

it('who has not said a word so long after it was first asked is mute, until it speaks or comes anew; it is asked last', async () => {
  const time = new VirtualTime()
  const swarm = new Swarm(time)
  swarm.asks('peer', 'one')
  await time.advance(MUTE_MS - 1)
  swarm.asks('peer', 'two')
  expect(swarm.isMute('peer')).toBe(false)
  await time.advance(1)
  expect(swarm.isMute('peer')).toBe(true)
  expect(swarm.order(['peer', 'other'])).toEqual(['other', 'peer'])
  swarm.spoke('peer')
  await time.advance(MUTE_MS)
  expect(swarm.isMute('peer')).toBe(false)
  expect(swarm.order(['peer', 'other'])).toEqual(['peer', 'other'])
  swarm.asks('other', 'one')
  await time.advance(MUTE_MS)
  expect(swarm.isMute('other')).toBe(true)
  swarm.forget('other')
  expect(swarm.isMute('other')).toBe(false)
})
