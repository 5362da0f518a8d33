/** What becomes of gossiped envelopes before their signatures are checked. @see go-libp2p-pubsub pubsub.go pushMsg */
import { ed25519 } from '@noble/curves/ed25519.js'
import { afterEach, describe, expect, it } from 'vitest'
import { Breather } from '../../src/base/breather.ts'
import { concatBytes, utf8 } from '../../src/base/bytes.ts'
import { varintBytes } from '../../src/codec/varint.ts'
import { messagesTopic } from '../../src/p2p/gossip/topics.ts'
import { guardEnvelopes } from '../../src/p2p/host/envelopeGuard.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import type { Router } from '../../src/p2p/host/router.ts'
import { encodeEnvelope, isSigned } from './gossipEnvelope.ts'
import { connect, NETWORK, soon, startHost, stopHosts, until } from './testHosts.ts'

const MESSAGES = messagesTopic(NETWORK)
const SECRET = new Uint8Array(32).fill(7)
const AUTHOR = concatBytes(Uint8Array.of(0x00, 0x24, 0x08, 0x01, 0x12, 0x20), ed25519.getPublicKey(SECRET))

/** A frame with one publication, signed or badly signed. */
function frame(text: string, number: number, signed: boolean): Uint8Array {
  const parts = { from: AUTHOR, data: utf8(text), seqno: new Uint8Array(8).fill(number), topic: utf8(MESSAGES) }
  const signature = ed25519.sign(concatBytes(utf8('libp2p-pubsub:'), encodeEnvelope(parts)), SECRET)
  if (!signed) signature[0] = (signature[0] as number) ^ 1
  expect(isSigned({ ...parts, signature })).toBe(signed)
  const envelope = encodeEnvelope({ ...parts, signature })
  const rpc = concatBytes(Uint8Array.of(0x12), varintBytes(envelope.length), envelope)
  return concatBytes(varintBytes(rpc.length), rpc)
}

async function pair(): Promise<{ judge: P2pHost; sender: P2pHost; send: (frame: Uint8Array) => Promise<void> }> {
  const [judge, sender] = [await startHost(), await startHost()]
  await connect(sender, judge)
  const stream = await sender.links.open(judge.id, ['/meshsub/1.1.0'], soon())
  return { judge, sender, send: (bytes) => stream.write(bytes) }
}

function invalidOf(judge: P2pHost, sender: P2pHost): number {
  return judge.parts.router.score.peerStats.get(sender.id)?.topics[MESSAGES]?.invalidMessageDeliveries ?? 0
}

describe('an envelope', () => {
  afterEach(stopHosts)

  it('whose payload was seen is not checked again', async () => {
    const { judge, sender, send } = await pair()
    const heard: string[] = []
    judge.pubsub.join(MESSAGES, ({ data }) => {
      heard.push(new TextDecoder().decode(data))
      return 'accept'
    })
    await send(frame('one', 1, true))
    await send(frame('one', 2, false))
    await send(frame('two', 3, true))
    await until(() => heard.includes('two'), 'what follows')
    expect([heard, invalidOf(judge, sender)]).toEqual([['one', 'two'], 0])
    await send(frame('three', 4, false))
    await until(() => invalidOf(judge, sender) === 1, 'a bad signature of something new')
  })

  it('of a peer that has had its share is dropped, and nobody is blamed', async () => {
    const { judge, sender, send } = await pair()
    const asked: [string, number][] = []
    const heard: string[] = []
    judge.pubsub.join(
      MESSAGES,
      ({ data }) => {
        heard.push(new TextDecoder().decode(data))
        return 'accept'
      },
      (from, bytes) => {
        asked.push([from, bytes])
        return bytes === 5
      },
    )
    await send(frame('dropped', 1, false))
    await send(frame('taken', 2, true))
    await until(() => heard.length > 0, 'what is welcome')
    expect(heard).toEqual(['taken'])
    expect(asked).toEqual([
      [sender.id, 7],
      [sender.id, 5],
    ])
    expect(invalidOf(judge, sender)).toBe(0)
  })
})

it('checks of all peers together pause after each stretch', async () => {
  let now = 0
  let pauses = 0
  const clock = { nowMs: () => now, monotonicMs: () => now }
  const timers = {
    setTimeout: (fn: () => void) => {
      pauses++
      queueMicrotask(fn)
      return () => undefined
    },
  }
  const router = {
    msgIdToStrFn: String,
    validateReceivedMessage: async () => {
      now += 5
    },
  }
  guardEnvelopes(router as unknown as Router, () => true, new Breather({ clock, timers }, 20))
  const receive = router.validateReceivedMessage as (from: string, envelope: { topic: string }) => Promise<void>
  await Promise.all(Array.from({ length: 100 }, (_, i) => receive(`peer ${i % 7}`, { topic: MESSAGES })))
  // 500 ms of work in stretches of 20.
  expect(pauses).toBe(24)
  expect(() => guardEnvelopes({} as Router, () => true, new Breather({ clock, timers }, 20))).toThrow('gossipsub')
})
