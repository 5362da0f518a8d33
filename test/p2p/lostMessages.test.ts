/** What becomes of messages whose receivers have all left. */
import { afterEach, describe, expect, it } from 'vitest'
import { MAX_WATCHED_MESSAGES, WATCHED_MS } from '../../src/p2p/gossip/limits.ts'
import { messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { LostMessages } from '../../src/p2p/host/lostMessages.ts'
import type { Router } from '../../src/p2p/host/router.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { connect, NETWORK, startHost, stopHosts, until } from './testHosts.ts'

const MESSAGES = messagesTopic(NETWORK)

function watching() {
  const time = new FakeTime()
  const seen = new Map<string, unknown>()
  const left: string[] = []
  const router = { seenCache: { entries: seen }, removePeer: (peer: string) => left.push(peer) }
  const messages = new LostMessages(router as unknown as Router, time)
  const lost: string[] = []
  const send = (id: string, ...to: string[]): void => {
    seen.set(id, {})
    messages.watch(id, to, () => lost.push(id))
  }
  return { time, seen, left, messages, lost, send, leave: (peer: string) => router.removePeer(peer) }
}

describe('a message is lost', () => {
  it('when the last who got it leaves, once, and can be published again', () => {
    const { seen, left, lost, send, leave } = watching()
    send('one', 'a', 'b')
    send('other', 'a', 'c')
    leave('a')
    leave('b')
    expect([left, lost, [...seen.keys()]]).toEqual([['a', 'b'], ['one'], ['other']])
    leave('b')
    expect(lost).toEqual(['one'])
  })

  it('not when they leave later: it has been said again by then', async () => {
    for (const [afterMs, expected] of [
      [WATCHED_MS - 1, ['one']],
      [WATCHED_MS, []],
    ] as const) {
      const { time, lost, send, leave } = watching()
      send('one', 'a')
      await time.pass(afterMs)
      leave('a')
      expect(lost).toEqual(expected)
    }
  })

  it('sent again it goes by whom it was sent to then', () => {
    const { lost, send, leave } = watching()
    send('one', 'a')
    send('one', 'b')
    leave('a')
    expect(lost).toEqual([])
  })
})

it('so many are watched, the newest, and none for longer', async () => {
  const { time, messages, lost, send, leave } = watching()
  for (let i = 0; i < MAX_WATCHED_MESSAGES; i++) send(String(i), 'a')
  expect(messages.size).toBe(MAX_WATCHED_MESSAGES)
  send('last', 'a')
  expect(messages.size).toBe(MAX_WATCHED_MESSAGES)
  leave('a')
  expect([lost.length, lost[0], lost.at(-1)]).toEqual([MAX_WATCHED_MESSAGES, '1', 'last'])
  send('old', 'a')
  await time.pass(WATCHED_MS)
  send('new', 'a')
  expect(messages.size).toBe(1)
})

describe('of hosts', () => {
  afterEach(stopHosts)

  it('what the only peer got goes to the next one when that has left', async () => {
    const [author, first, second] = [await startHost(), await startHost(), await startHost()]
    const heard: string[] = []
    for (const [name, host] of Object.entries({ first, second })) {
      host.pubsub.join(MESSAGES, () => {
        heard.push(name)
        return 'accept'
      })
    }
    author.pubsub.join(MESSAGES, () => 'accept')
    const data = new Uint8Array([7])
    const publish = (): Promise<void> => author.pubsub.publish(MESSAGES, data, () => heard.push('lost'))
    const joined = (id: string): Promise<void> =>
      until(() => author.pubsub.subscribers(MESSAGES).includes(id), 'it has joined')
    await connect(author, first)
    await joined(first.id)
    await publish()
    await until(() => heard.length === 1, 'the first one hears it')
    await publish()
    await author.links.disconnect(first.id)
    await until(() => heard.length === 2, 'it is lost')
    await connect(author, second)
    await joined(second.id)
    await publish()
    await until(() => heard.length === 3, 'the second one hears it')
    expect(heard).toEqual(['first', 'lost', 'second'])
  })
})
