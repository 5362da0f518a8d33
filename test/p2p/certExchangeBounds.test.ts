/** Bounds of the certificate exchange: each at the bound and one above. */
import { describe, expect, it } from 'vitest'
import { concatBytes, fromHex } from '../../src/base/bytes.ts'
import { sleep } from '../../src/base/waiting.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { CertClient } from '../../src/p2p/certExchange/client.ts'
import {
  BUSY_MS,
  CLIENT_LIMITS,
  MAX_CERTIFICATES,
  MAX_HEADER_BYTES,
  MAX_ITEM_BYTES,
  MAX_REQUEST_BYTES,
  READ_GATE,
  READ_REQUEST_MS,
  SERVER_BUDGET,
  SERVER_GATE,
  SERVER_MS,
  STALL_MS,
  UNSENT,
} from '../../src/p2p/certExchange/limits.ts'
import { certExchangeProtocol, certRequest } from '../../src/p2p/certExchange/messages.ts'
import { type CertificateSource, serveCertExchange } from '../../src/p2p/certExchange/server.ts'
import type { Pace } from '../../src/p2p/framing/patientStream.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { MemoryNetwork, type MemoryNode } from '../support/memoryNetwork.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { cborBytes, endsAtBound, readAll, ServedStream } from './streams.ts'

const PROTOCOL = certExchangeProtocol('bounds')
const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const REQUEST = encode(certRequest, { firstInstance: 0n, limit: 1n, includePowerTable: false })
const WITH_TABLE = encode(certRequest, { firstInstance: 5n, limit: 1n, includePowerTable: true })

/**
 * A server of certificates, and how it serves a stream.
 * @param stepMs - what each of two steps takes that lead to a power table
 * @param bytes - of a certificate
 */
function server(
  stepMs = 0,
  bytes = 1,
): {
  time: VirtualTime
  node: MemoryNode
  serve: (peer: string, stream: ByteStream) => Promise<void>
} {
  const time = new VirtualTime()
  const network = new MemoryNetwork(time)
  const node = network.addNode('server')
  let workedMs = 0
  const certificate = bytes === 1 ? Uint8Array.of(0x80) : cborBytes(bytes)
  const clock = { nowMs: () => time.nowMs(), monotonicMs: () => time.monotonicMs() + workedMs }
  const certificates: CertificateSource = {
    pendingInstance: () => 1000,
    certificateCbor: () => certificate,
    *findPowerTable() {
      workedMs += stepMs
      yield
      workedMs += stepMs
      return []
    },
  }
  serveCertExchange({ links: node.links, clock, timers: time, log: silentLog, f3Network: 'bounds', certificates })
  const serve = network.get('server').handlers.get(PROTOCOL)
  return { time, node, serve: async (peer, stream) => await serve?.(peer, stream).catch(() => undefined) }
}

/** A client, and a peer that answers it so. */
function client(answer: (stream: ByteStream, time: VirtualTime) => Promise<void>): {
  time: VirtualTime
  node: MemoryNode
  client: CertClient
} {
  const time = new VirtualTime()
  const network = new MemoryNetwork(time)
  network.addNode('peer').links.handle(PROTOCOL, async (_, stream) => await answer(stream, time))
  const node = network.addNode('client')
  network.connect('peer', 'client')
  return { time, node, client: new CertClient({ links: node.links, clock: time, timers: time, f3Network: 'bounds' }) }
}

const never = (): Promise<never> => new Promise(() => undefined)
const faults = (node: MemoryNode): string[] => node.reports.map(({ what }) => what.fault)

describe('served', () => {
  it.each([
    [BigInt(MAX_CERTIFICATES) - 1n, MAX_CERTIFICATES],
    [BigInt(MAX_CERTIFICATES), MAX_CERTIFICATES + 1],
    [BigInt(MAX_CERTIFICATES) + 1n, MAX_CERTIFICATES + 1],
    [2n ** 64n - 1n, MAX_CERTIFICATES + 1],
  ])('%s certificates asked for', async (limit, count) => {
    const { serve } = server()
    const stream = new ServedStream(
      PROTOCOL,
      encode(certRequest, { firstInstance: 0n, limit, includePowerTable: false }),
    )
    await serve('peer', stream)
    // The header, then one certificate each.
    expect(stream.written).toHaveLength(1 + count)
  })

  it.each([
    [MAX_REQUEST_BYTES, 'GARBAGE'],
    [MAX_REQUEST_BYTES + 1, 'OVERSIZED'],
  ])('a request of %s bytes', async (bytes, fault) => {
    const { serve, node } = server()
    await serve('peer', new ServedStream(PROTOCOL, cborBytes(bytes)))
    expect(faults(node)).toEqual([fault])
  })

  it.each([
    ['a request that does not come', READ_REQUEST_MS, new ServedStream(PROTOCOL, undefined)],
    ['an answer that is not taken', STALL_MS, new ServedStream(PROTOCOL, REQUEST, never)],
  ])('%s is given up in time', async (_what, ms, stream) => {
    const { time, serve } = server()
    void serve('peer', stream)
    await time.advance(ms - 1)
    expect(stream.aborted).toBeUndefined()
    await time.advance(1)
    expect(stream.aborted).toMatchObject({ code: 'TIMEOUT' })
  })

  it('so many at once, of one peer and of all: then one of those who have most waiting is turned away', async () => {
    // The first table's second step waits for the clock, and all others for that table.
    const { time, serve, node } = server(BUSY_MS)
    const { perPeer, running, waiting } = SERVER_GATE
    const ended: number[] = []
    for (let i = 0; i < running + waiting; i++) {
      void serve(`peer ${Math.floor(i / perPeer)}`, new ServedStream(PROTOCOL, WITH_TABLE)).then(() => ended.push(i))
      await time.settle()
      if (i !== perPeer - 1) continue
      expect(faults(node)).toEqual([])
      await serve('peer 0', new ServedStream(PROTOCOL, REQUEST))
      expect(faults(node)).toEqual(['FLOOD'])
    }
    expect(ended).toEqual([])
    const another = new ServedStream(PROTOCOL, REQUEST)
    void serve('another', another)
    await time.settle()
    expect(ended).toHaveLength(1)
    // It waits, and who was turned away because of others is not held to it.
    expect([another.written.length, faults(node)]).toEqual([0, ['FLOOD']])
  })

  it.each([
    [SERVER_GATE.running - 1, 3],
    [SERVER_GATE.running, 0],
  ])('while %s answers are being made another has so many parts: %s', async (made, parts) => {
    const { time, serve } = server(BUSY_MS)
    for (let i = 0; i < made; i++) {
      void serve(`peer ${Math.floor(i / SERVER_GATE.perPeer)}`, new ServedStream(PROTOCOL, WITH_TABLE))
    }
    await time.settle()
    const another = new ServedStream(PROTOCOL, REQUEST)
    const answered = serve('another', another)
    await time.settle()
    // The header, then two certificates.
    expect(another.written).toHaveLength(parts)
    await time.until(answered)
    expect(another.written).toHaveLength(3)
  })

  it('who takes answers slowly keeps nobody waiting', async () => {
    const { time, serve, node } = server()
    const slow = Array.from({ length: 2 * SERVER_GATE.running }, () => new ServedStream(PROTOCOL, REQUEST, never))
    for (const [i, stream] of slow.entries()) void serve(`peer ${Math.floor(i / SERVER_GATE.perPeer)}`, stream)
    await time.settle()
    const another = new ServedStream(PROTOCOL, REQUEST)
    await serve('another', another)
    // The header, then two certificates.
    expect(another.written).toHaveLength(3)
    expect(slow.filter(({ aborted }) => aborted !== undefined)).toEqual([])
    expect(faults(node)).toEqual([])
  })

  it('so many bytes that are being sent: then one of those who have most gives way', async () => {
    const { time, serve } = server(0, UNSENT.longest)
    const untilTaken = (part: Uint8Array): Promise<void> => (part.length < UNSENT.longest ? Promise.resolve() : never())
    const slow = Array.from(
      { length: UNSENT.all / UNSENT.longest },
      () => new ServedStream(PROTOCOL, REQUEST, untilTaken),
    )
    for (const [i, stream] of slow.entries()) void serve(`peer ${Math.floor(i / SERVER_GATE.perPeer)}`, stream)
    await time.settle()
    expect(slow.filter(({ aborted }) => aborted !== undefined)).toEqual([])
    const another = new ServedStream(PROTOCOL, REQUEST)
    await serve('another', another)
    expect(another.written).toHaveLength(3)
    expect(slow.map(({ aborted }) => aborted !== undefined)).toEqual(slow.map((_, i) => i === 0))
  })

  it('so many whose request is awaited, of one peer and of all: then one of those who have most gives way', async () => {
    const { time, serve, node } = server()
    const { perPeer, running } = READ_GATE
    const streams = Array.from({ length: running }, () => new ServedStream(PROTOCOL, undefined))
    for (const [i, stream] of streams.entries()) void serve(`peer ${Math.floor(i / perPeer)}`, stream)
    await time.settle()
    await serve('peer 0', new ServedStream(PROTOCOL, REQUEST))
    expect(faults(node)).toEqual(['FLOOD'])
    const another = new ServedStream(PROTOCOL, REQUEST)
    await serve('another', another)
    expect(another.written.length).toBeGreaterThan(0)
    expect(streams.map(({ aborted }) => aborted !== undefined)).toEqual(streams.map((_, i) => i === 0))
    expect(faults(node)).toEqual(['FLOOD'])
  })

  it.each([
    [BUSY_MS - 1, false],
    [BUSY_MS, true],
  ])('others are answered while a table is computed, after %s ms: %s', async (stepMs, isPaused) => {
    const { time, serve } = server(stepMs)
    const [slow, another] = [new ServedStream(PROTOCOL, WITH_TABLE), new ServedStream(PROTOCOL, REQUEST)]
    void serve('one', slow)
    await time.settle()
    await serve('another', another)
    // The header, then two certificates.
    expect([slow.written.length, another.written.length]).toEqual([isPaused ? 0 : 3, 3])
    await time.advance(0)
    expect(slow.written).toHaveLength(3)
  })

  it('an answer as a whole is given up in time', async () => {
    const { time, serve } = server()
    const slowly = (): Promise<void> => new Promise((resolve) => time.setTimeout(resolve, STALL_MS - 1))
    const request = encode(certRequest, { firstInstance: 0n, limit: 100n, includePowerTable: false })
    const stream = new ServedStream(PROTOCOL, request, slowly)
    void serve('peer', stream)
    await time.advance(SERVER_MS - 1)
    expect(stream.aborted).toBeUndefined()
    await time.advance(1)
    expect(stream.aborted).toMatchObject({ code: 'TIMEOUT' })
  })

  it('so many requests of a peer, then one a second', async () => {
    const { time, serve, node } = server()
    const ask = (): Promise<void> => serve('peer', new ServedStream(PROTOCOL, REQUEST))
    for (let i = 0; i < SERVER_BUDGET.capacity; i++) await ask()
    expect(faults(node)).toEqual([])
    await ask()
    expect(faults(node)).toEqual(['FLOOD'])
    await time.advance(1000 / SERVER_BUDGET.perSecond - 1)
    await ask()
    expect(faults(node)).toEqual(['FLOOD', 'FLOOD'])
    await time.advance(1)
    await ask()
    expect(faults(node)).toEqual(['FLOOD', 'FLOOD'])
    await ask()
    expect(faults(node)).toEqual(['FLOOD', 'FLOOD', 'FLOOD'])
  })
})

describe('asked', () => {
  const question = { firstInstance: 0, limit: 1, includePowerTable: false }

  it('no more certificates than an answer may have', async () => {
    for (const limit of [MAX_CERTIFICATES, MAX_CERTIFICATES + 1]) {
      let asked = 0n
      const made = client(async (stream) => {
        asked = decode(certRequest, await readAll(stream)).limit
        await stream.write(fromHex('820080'))
        await stream.closeWrite()
      })
      await made.client.request('peer', { ...question, limit })
      expect(asked).toBe(BigInt(MAX_CERTIFICATES))
    }
  })

  const sound = fromHex('820580')
  it.each([
    ['a header', MAX_HEADER_BYTES, new Uint8Array(0), false],
    ['a table', MAX_ITEM_BYTES, new Uint8Array(0), true],
    ['a certificate', MAX_ITEM_BYTES, sound, false],
  ])('%s: of the longest it is read, of a byte more not', async (_what, bytes, before, includePowerTable) => {
    for (const [length, fault] of [
      [bytes, 'GARBAGE'],
      [bytes + 1, 'OVERSIZED'],
    ] as const) {
      const made = client(async (stream) => {
        await stream.write(concatBytes(before, cborBytes(length)))
        await stream.closeWrite()
      })
      const asked = made.client.request('peer', { ...question, includePowerTable })
      await expect(made.time.until(asked)).rejects.toThrow()
      expect(faults(made.node)).toEqual([fault])
    }
  })

  it('an answer of the longest is read, of a byte more not', async () => {
    const { maxBytes } = CLIENT_LIMITS
    expect(await endsAtBound(PROTOCOL, maxBytes, maxBytes)).toBe(true)
    await expect(endsAtBound(PROTOCOL, maxBytes + 1, maxBytes)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })

  it.each([
    ['a peer that opens no stream', CLIENT_LIMITS.openMs],
    ['a peer that takes no question', CLIENT_LIMITS.writeMs],
    ['a peer that says nothing', CLIENT_LIMITS.pace?.waitMs ?? 0],
    ['a peer that is just fast enough, and never done', CLIENT_LIMITS.answerMs],
  ])('%s is given up in time', async (what, ms) => {
    const perSecond = CLIENT_LIMITS.pace?.bytesPerSecond ?? 0
    const made = client(async (stream, time) => {
      if (!what.includes('fast')) return await never()
      await stream.write(cborBytes(MAX_ITEM_BYTES).subarray(0, 10))
      for (;;) {
        await new Promise<void>((resolve) => time.setTimeout(resolve, 1000))
        await stream.write(new Uint8Array(perSecond))
      }
    })
    if (what.includes('opens')) Object.assign(made.node, { open: never })
    const takesNothing = new ServedStream(PROTOCOL, undefined, never)
    if (what.includes('takes')) Object.assign(made.node, { open: () => Promise.resolve(takesNothing) })
    let error: unknown
    made.client.request('peer', { ...question, includePowerTable: true }).catch((thrown: unknown) => {
      error = thrown
    })
    await made.time.advance(ms - 1)
    expect(error).toBeUndefined()
    await made.time.advance(1)
    expect(error).toMatchObject({ code: 'TIMEOUT' })
  })

  it.each([
    [0, false],
    [1, true],
  ])('%s bytes a second less than the pace: whether it is given up before its time: %s', async (less, isGivenUp) => {
    const { waitMs, bytesPerSecond } = CLIENT_LIMITS.pace as Pace
    const made = client(async (stream, time) => {
      await stream.write(cborBytes(MAX_ITEM_BYTES).subarray(0, 10))
      // Nearly all of its patience; then it lives by what it brings.
      await sleep(time, waitMs - 0.5)
      for (;;) {
        await stream.write(new Uint8Array(bytesPerSecond - less))
        await sleep(time, 1000)
      }
    })
    let error: unknown
    made.client.request('peer', { ...question, includePowerTable: true }).catch((thrown: unknown) => {
      error = thrown
    })
    await made.time.advance(CLIENT_LIMITS.answerMs - 1)
    expect(error !== undefined).toBe(isGivenUp)
  })
})
