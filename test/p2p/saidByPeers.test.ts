/** How long a peer may say nothing on a stream of pings or of the DHT, and how many addresses it may say of itself: each at the bound, and above. */
import { expect, it } from 'vitest'
import { concatBytes } from '../../src/base/bytes.ts'
import { ProtoWriter } from '../../src/p2p/bitswap/protobuf.ts'
import { PING, TYPE } from '../../src/p2p/host/dhtMessages.ts'
import { serveRequests } from '../../src/p2p/host/dhtRequests.ts'
import { HOST_LIMITS, MAX_SAID_ADDRESSES, SILENT_MS } from '../../src/p2p/host/hostLimits.ts'
import { HostLinks } from '../../src/p2p/host/hostLinks.ts'
import { answerPings } from '../../src/p2p/host/pingAnswers.ts'
import { Bans } from '../../src/p2p/peers/bans.ts'
import { Demerits } from '../../src/p2p/peers/demerits.ts'
import { PeerTags } from '../../src/p2p/peers/peerTags.ts'
import { FakeStream } from '../support/fakeStream.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'

/** Serves one stream. */
type Serve = (stream: FakeStream, timers: VirtualTime) => void

const pings: Serve = (stream, timers) => {
  const service: Parameters<typeof answerPings>[0] = { handlePing: () => Promise.resolve() }
  answerPings(service, { timers, log: silentLog })
  void service.handlePing?.(stream as never)
}

const requests: Serve = (stream, timers) => {
  const rpc = { onIncomingStream: async (_: unknown, __: unknown) => undefined, handleMessage: async () => undefined }
  serveRequests({ rpc } as never, { timers, log: silentLog })
  void rpc.onIncomingStream(stream, { remotePeer: 'peer' })
}

function dhtPing(): Uint8Array {
  const writer = new ProtoWriter()
  writer.number(TYPE, PING)
  return writer.finish(true)
}

it.each([
  ['pings', pings, new Uint8Array(32).fill(7)],
  ['requests of the DHT', requests, dhtPing()],
])('a stream of %s stays open as long as the next comes in time', async (_, serve, question) => {
  const time = new VirtualTime()
  const stream = new FakeStream()
  serve(stream, time)
  for (let asked = 1; asked <= 3; asked++) {
    await time.advance(SILENT_MS - 1)
    stream.say(question)
    await time.settle()
    expect(concatBytes(...stream.sent)).toEqual(concatBytes(...new Array<Uint8Array>(asked).fill(question)))
  }
  // Half of one is none.
  await time.advance(SILENT_MS / 2)
  stream.say(question.subarray(0, question.length - 1))
  await time.advance(SILENT_MS / 2 - 1)
  expect(stream.status).toBe('open')
  await time.advance(1)
  expect([stream.status, time.pending]).toEqual(['aborted', 0])
})

it('of what a peer says of itself so many addresses are kept', () => {
  const time = new VirtualTime()
  const node = new EventTarget()
  const deps = {
    node: node as never,
    identify: () => Promise.resolve(),
    bans: new Bans(time),
    demerits: new Demerits(time),
    tags: new PeerTags(),
    limits: HOST_LIMITS,
  }
  const links = new HostLinks({ ...deps, clock: time, timers: time, log: silentLog })
  const tell = (name: string, detail: unknown): boolean =>
    node.dispatchEvent(Object.assign(new Event(name), { detail }))
  tell('peer:connect', 'peer')
  const says = (addresses: number): readonly string[] | undefined => {
    const listenAddrs = Array.from({ length: addresses }, (_, i) => `/ip4/4.8.1.1/tcp/${i}`)
    tell('peer:identify', { peerId: 'peer', protocols: [], listenAddrs })
    return links.says('peer')?.addresses
  }
  const most = Array.from({ length: MAX_SAID_ADDRESSES }, (_, i) => `/ip4/4.8.1.1/tcp/${i}`)
  expect(says(MAX_SAID_ADDRESSES)).toEqual(most)
  expect(says(MAX_SAID_ADDRESSES + 1)).toEqual(most)
})
