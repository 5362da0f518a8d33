/** @see go-libp2p-pubsub pubsub.go RPC.split */
import { RPC } from '@libp2p/gossipsub/message'
import { expect, it } from 'vitest'
import { splitRpc } from '../../src/p2p/host/splitRpc.ts'

const LIMIT = 1000
const topic = '/fil/blocks/testing'
const message = (bytes: number): RPC.Message => ({ topic, data: new Uint8Array(bytes).fill(bytes % 251) })
const control = { graft: [{ topicID: topic }], prune: [], ihave: [], iwant: [], idontwant: [] }

it('an RPC that is short enough stays as it is', () => {
  const bytes = RPC.encode({ subscriptions: [{ subscribe: true, topic }], messages: [message(900)], control })
  expect(bytes.length).toBeLessThanOrEqual(LIMIT)
  expect(splitRpc(bytes, bytes.length)).toEqual([bytes])
})

it('a longer one comes in parts, none too long, nothing lost and the order kept', () => {
  for (const sizes of [[900, 900], [100, 100, 100, 800, 100, 700, 3, 0], Array.from({ length: 300 }, (_, i) => i)]) {
    const messages = sizes.map(message)
    const subscriptions = [{ subscribe: true, topic }]
    const parts = splitRpc(RPC.encode({ subscriptions, messages, control }), LIMIT)
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(LIMIT)
    const decoded = parts.map((part) => RPC.decode(part))
    expect(decoded.flatMap((part) => part.messages)).toEqual(messages)
    expect(decoded.flatMap((part) => part.subscriptions)).toEqual(subscriptions)
    expect(decoded.flatMap((part) => part.control?.graft ?? [])).toEqual(control.graft)
  }
})

it('messages fill a part; one that is too long by itself is not cut', () => {
  const full = RPC.encode({ subscriptions: [], messages: [message(300), message(300)] }).length
  const bytes = RPC.encode({ subscriptions: [], messages: [message(300), message(300), message(2000)] })
  expect(splitRpc(bytes, full + 2).map((part) => RPC.decode(part).messages.length)).toEqual([2, 1])
})
