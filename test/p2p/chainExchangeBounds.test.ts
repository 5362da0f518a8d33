/** Bounds of serving the chain exchange: each at the bound and one above. */
import { describe, expect, it } from 'vitest'
import { sleep } from '../../src/base/waiting.ts'
import { encode } from '../../src/codec/description.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import {
  BUSY_MS,
  HEADERS_SHARE,
  LEAST_COST,
  MAX_REQUEST_BYTES,
  MAX_SERVED_BYTES,
  MAX_WAIT_MS,
  READ_GATE,
  READ_REQUEST_MS,
  REFUSAL_BUDGET,
  SERVER_BUDGET,
  SERVER_GATE,
  SHORT_ANSWER_BYTES,
  STALL_MS,
  WRITE_ANSWER_MS,
  WRITE_BYTES,
} from '../../src/p2p/chainExchange/limits.ts'
import {
  CHAIN_EXCHANGE_PROTOCOL,
  exchangeRequest,
  OPTION_HEADERS,
  OPTION_MESSAGES,
  STATUS_OK,
} from '../../src/p2p/chainExchange/messages.ts'
import { serveChainExchange } from '../../src/p2p/chainExchange/server.ts'
import type { ByteStream } from '../../src/p2p/peerLinks.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { MemoryNetwork, type MemoryNode } from '../support/memoryNetwork.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { cborBytes, ServedStream } from './streams.ts'

const GO_AWAY = 202
const faults = (node: MemoryNode): string[] => node.reports.map(({ what }) => what.fault)
const never = (): Promise<never> => new Promise(() => undefined)

/** A tipset that takes so many bytes in an answer, headers alone; its parents are itself. */
function tipsetOf(bytes: number): Tipset {
  const base = header(undefined, 1_000_000, 1)
  const parent = createTipset([base])
  const padded = (padding: number): Tipset =>
    createTipset([{ ...header(parent, 1_000_000, 1), ticket: { vrfProof: new Uint8Array(padding) } }])
  const sizeOf = (tipset: Tipset): number => encode(blockHeader, firstBlock(tipset)).length + 3
  // 82 81 header f6.
  const tipset = padded(bytes - (sizeOf(padded(70_000)) - 70_000))
  expect(sizeOf(tipset)).toBe(bytes)
  return tipset
}

interface Served {
  readonly time: VirtualTime
  readonly node: MemoryNode
  readonly rests: () => number
  serve(peer: string, stream: ByteStream): Promise<void>
  /** The status of the answer. */
  ask(peer: string, length: number, options?: bigint): Promise<number>
}

/** A server whose chain is one tipset without end. @param loadMs - that loading it takes */
function served(tipset: Tipset = createTipset([header(undefined, 1_000_000, 1)]), loadMs = 0): Served {
  const time = new VirtualTime()
  const network = new MemoryNetwork(time)
  const node = network.addNode('server')
  let busyMs = 0
  let rests = 0
  const chain = {
    blocks: new MemoryBlockstore(),
    header: () => firstBlock(tipset),
    tipset: () => {
      busyMs += loadMs
      return tipset
    },
  }
  const clock = { nowMs: () => time.nowMs() + busyMs, monotonicMs: () => time.monotonicMs() + busyMs }
  const setTimeout = (run: () => void, ms: number): (() => void) => {
    if (ms > 0) return time.setTimeout(run, ms)
    rests++
    queueMicrotask(run)
    return () => undefined
  }
  serveChainExchange({ links: node.links, chain, clock, timers: { setTimeout }, log: silentLog })
  const handler = network.get('server').handlers.get(CHAIN_EXCHANGE_PROTOCOL)
  const serve = async (peer: string, stream: ByteStream): Promise<void> =>
    await handler?.(peer, stream).catch(() => undefined)
  const ask = async (peer: string, length: number, options = OPTION_HEADERS): Promise<number> => {
    const stream = new ServedStream(CHAIN_EXCHANGE_PROTOCOL, requestOf(length, options))
    await serve(peer, stream)
    const head = stream.written[0] as Uint8Array
    return head[1] === 0x18 ? (head[2] as number) : (head[1] as number)
  }
  return { time, node, rests: () => rests, serve, ask }
}

function requestOf(length: number, options = OPTION_HEADERS): Uint8Array {
  const head = [...createTipset([header(undefined, 1_000_000, 1)]).key]
  return encode(exchangeRequest, { head, length: BigInt(length), options })
}

describe('served', () => {
  it.each([
    [MAX_REQUEST_BYTES, 'GARBAGE'],
    [MAX_REQUEST_BYTES + 1, 'OVERSIZED'],
  ])('a request of %s bytes', async (bytes, fault) => {
    const { serve, node } = served()
    await serve('peer', new ServedStream(CHAIN_EXCHANGE_PROTOCOL, cborBytes(bytes)))
    expect(faults(node)).toEqual([fault])
  })

  it('an answer ends before the tipset that would make it too long; it is written in pieces', async () => {
    const count = 10
    for (const [bytes, tipsets] of [
      [MAX_SERVED_BYTES / count, count],
      [MAX_SERVED_BYTES / count + 1, count - 1],
      // The first always fits.
      [MAX_SERVED_BYTES + 1, 1],
    ] as const) {
      const { serve } = served(tipsetOf(bytes))
      const stream = new ServedStream(CHAIN_EXCHANGE_PROTOCOL, requestOf(900))
      await serve('peer', stream)
      // Array of 3, the status Partial, no text, so many tipsets.
      expect([...(stream.written[0] as Uint8Array).subarray(0, 5)]).toEqual([0x83, 0x18, 101, 0x60, 0x80 + tipsets])
      expect(stream.written.reduce((sum, { length }) => sum + length, 0)).toBe(5 + tipsets * bytes)
      expect(new Set(stream.written.slice(0, -1).map(({ length }) => length))).toEqual(new Set([WRITE_BYTES]))
      expect((stream.written.at(-1) as Uint8Array).length).toBeLessThanOrEqual(WRITE_BYTES)
    }
  })

  it('lets others run after so long', async () => {
    // After each tipset but the last it is looked at.
    for (const [loadMs, rests] of [
      [BUSY_MS / 2 - 1, 0],
      [BUSY_MS / 2, 1],
      [BUSY_MS, 2],
    ] as const) {
      const made = served(undefined, loadMs)
      expect(await made.ask('peer', 3)).toBe(0)
      expect(made.rests()).toBe(rests)
    }
  })

  it.each([
    ['a request that does not come', READ_REQUEST_MS, undefined, never],
    ['an answer that is not taken', STALL_MS, requestOf(1), never],
  ])('%s is given up in time', async (_what, ms, request, taken) => {
    const { time, serve } = served()
    const stream = new ServedStream(CHAIN_EXCHANGE_PROTOCOL, request, taken)
    void serve('peer', stream)
    await time.advance(ms - 1)
    expect(stream.aborted).toBeUndefined()
    await time.advance(1)
    expect(stream.aborted).toMatchObject({ code: 'TIMEOUT' })
  })

  it('an answer that is taken too slowly as a whole is given up in time', async () => {
    const { time, serve } = served(tipsetOf(1024 * 1024))
    const slowly = (): Promise<void> => new Promise((resolve) => time.setTimeout(resolve, STALL_MS - 1))
    const stream = new ServedStream(CHAIN_EXCHANGE_PROTOCOL, requestOf(1), slowly)
    void serve('peer', stream)
    await time.advance(WRITE_ANSWER_MS - 1)
    expect(stream.aborted).toBeUndefined()
    await time.advance(1)
    expect(stream.aborted).toMatchObject({ code: 'TIMEOUT' })
  })

  it('so many streams whose request is awaited, of one peer and of all', async () => {
    const { time, serve, node } = served()
    const { perPeer, running } = READ_GATE
    const streams = Array.from({ length: running }, () => new ServedStream(CHAIN_EXCHANGE_PROTOCOL, undefined))
    for (const [i, stream] of streams.entries()) {
      void serve(`peer ${Math.floor(i / perPeer)}`, stream)
      if (i !== perPeer - 1) continue
      await time.settle()
      expect(faults(node)).toEqual([])
      await serve('peer 0', new ServedStream(CHAIN_EXCHANGE_PROTOCOL, requestOf(1)))
      expect(faults(node)).toEqual(['FLOOD'])
    }
    await time.settle()
    expect(faults(node)).toEqual(['FLOOD'])
    const another = new ServedStream(CHAIN_EXCHANGE_PROTOCOL, requestOf(1))
    await serve('another', another)
    // The oldest of those who have most has given way; nobody pays for what others do.
    expect([another.written.length, faults(node)]).toEqual([1, ['FLOOD']])
    expect(streams.map(({ aborted }) => aborted !== undefined)).toEqual(streams.map((_, i) => i === 0))
  })

  it('who is turned away because of others is not held to it', async () => {
    const { time, serve, node } = served()
    const each = READ_GATE.perPeer - 1
    for (let i = 0; i < READ_GATE.running; i++) {
      void serve(`peer ${Math.floor(i / each)}`, new ServedStream(CHAIN_EXCHANGE_PROTOCOL, undefined))
    }
    await time.settle()
    const more = new ServedStream(CHAIN_EXCHANGE_PROTOCOL, requestOf(1))
    await serve('peer 0', more)
    expect([more.written.length, faults(node)]).toEqual([0, []])
  })

  it('so many requests at once, of one peer and of all', async () => {
    const { perPeer, running, waiting } = SERVER_GATE
    const runningPerPeer = SERVER_GATE.runningPerPeer as number
    const made = served()
    const { time, serve } = made
    const begun: ServedStream[] = []
    const ask = async (peer: string): Promise<ServedStream> => {
      const stream = new ServedStream(CHAIN_EXCHANGE_PROTOCOL, requestOf(1), never)
      void serve(peer, stream)
      await time.settle()
      return stream
    }
    const isSentAway = ({ written }: ServedStream): boolean => written[0]?.[2] === GO_AWAY
    for (let i = 0; i < perPeer; i++) begun.push(await ask('peer 0'))
    expect(begun.filter(({ written }) => written.length > 0)).toHaveLength(runningPerPeer)
    expect([await made.ask('peer 0', 1), faults(made.node)]).toEqual([GO_AWAY, []])
    // Others have their places all the same, though nobody reads.
    for (let i = 1; i < running; i++) expect((await ask(`peer ${i}`)).written).not.toEqual([])
    const waitingPerPeer = perPeer - runningPerPeer
    for (let left = waiting - waitingPerPeer, i = running; left > 0; i++) {
      for (let k = 0; k < runningPerPeer; k++) begun.push(await ask(`peer ${i}`))
      for (let k = 0; k < waitingPerPeer && left > 0; k++, left--) begun.push(await ask(`peer ${i}`))
    }
    expect(begun.filter(isSentAway)).toEqual([])
    // The queue is full. Who has none is answered, and for who has fewer waiting one of those goes who have most.
    for (let i = 0; i < runningPerPeer; i++) expect((await ask('another')).written).not.toEqual([])
    const more = await ask('another')
    expect([more.written, begun.filter(isSentAway).length]).toEqual([[], 1])
    // Of those who have most nobody displaces another.
    const [last] = begun.filter(isSentAway)
    expect(begun.indexOf(last as ServedStream)).toBe(perPeer - 1)
    expect(faults(made.node)).toEqual([])
  })

  it.each([
    [MAX_WAIT_MS, true],
    [MAX_WAIT_MS + 1, false],
  ])('what has waited %s ms: whether it is answered: %s', async (ms, isAnswered) => {
    // In two writes, neither of which stalls.
    const { time, serve } = served(tipsetOf(2 * WRITE_BYTES - 100))
    const runningPerPeer = SERVER_GATE.runningPerPeer as number
    const slowly = (): Promise<void> => sleep(time, ms / 2)
    const asked = Array.from(
      { length: 2 * runningPerPeer },
      () => new ServedStream(CHAIN_EXCHANGE_PROTOCOL, requestOf(1), slowly),
    )
    await time.until(Promise.all(asked.map((stream) => serve('lotus', stream))))
    expect(asked.map(({ written }) => written.length > 0)).toEqual(
      asked.map((_, i) => isAnswered || i < runningPerPeer),
    )
  })

  it('an answer in the making ends early while another peer waits for a place', async () => {
    const tipsets = 4
    for (const [bytes, peers, made] of [
      [SHORT_ANSWER_BYTES / tipsets, SERVER_GATE.running, 2 * tipsets],
      [SHORT_ANSWER_BYTES / tipsets, SERVER_GATE.running + 1, tipsets],
      [SHORT_ANSWER_BYTES / tipsets + 1, SERVER_GATE.running + 1, tipsets - 1],
    ] as const) {
      // Each has a turn of its own for every tipset.
      const { time, serve } = served(tipsetOf(bytes), BUSY_MS)
      const asked = Array.from(
        { length: peers },
        () => new ServedStream(CHAIN_EXCHANGE_PROTOCOL, requestOf(2 * tipsets)),
      )
      await time.until(Promise.all(asked.map((stream, i) => serve(`peer ${i}`, stream))))
      // Array of 3, the status, no text, so many tipsets.
      const status = made === 2 * tipsets ? [0] : [0x18, 101]
      const head = [0x83, ...status, 0x60, 0x80 + made]
      const [first] = asked as [ServedStream]
      expect([...(first.written[0] as Uint8Array).subarray(0, head.length)]).toEqual(head)
    }
  })

  it('a Lotus that has but this peer asks sixteen times at once, and each is answered', async () => {
    const { time, serve, node } = served()
    const ms = 300
    const asked = Array.from(
      { length: 16 },
      () => new ServedStream(CHAIN_EXCHANGE_PROTOCOL, requestOf(8), () => sleep(time, ms)),
    )
    await time.until(Promise.all(asked.map((stream) => serve('lotus', stream))))
    expect(asked.map(({ written }) => written[0]?.[1])).toEqual(asked.map(() => STATUS_OK))
    expect([asked.some(({ aborted }) => aborted !== undefined), faults(node)]).toEqual([false, []])
  })

  it.each([
    ['headers', 900, OPTION_HEADERS, 900 * HEADERS_SHARE],
    ['messages', 900, OPTION_HEADERS | OPTION_MESSAGES, 900],
    ['a tipset', 1, OPTION_HEADERS, LEAST_COST],
    ['as many headers as the least costs', LEAST_COST / HEADERS_SHARE, OPTION_HEADERS, LEAST_COST],
    ['more headers than the least', LEAST_COST / HEADERS_SHARE + 4, OPTION_HEADERS, LEAST_COST + 1],
  ])('%s: so many tipsets of a peer; who goes on is reported', async (_what, length, options, cost) => {
    const { ask, node } = served()
    let answered = 0
    // Without their messages these tipsets cannot be answered with: that is not what is looked at.
    while ((await ask('peer', length, options)) !== GO_AWAY) answered++
    expect(answered).toBe(Math.floor(SERVER_BUDGET.capacity / cost))
    for (let i = 1; i < REFUSAL_BUDGET.capacity; i++) expect(await ask('peer', length, options)).toBe(GO_AWAY)
    expect(faults(node)).toEqual([])
    expect(await ask('peer', length, options)).toBe(GO_AWAY)
    expect(faults(node)).toEqual(['FLOOD'])
  })

  it.each([
    [999, 3, ['FLOOD', 'FLOOD']],
    [1000, 4, ['FLOOD']],
  ])('then so many tipsets a second, and so many refusals: after %s ms', async (ms, tipsets, reported) => {
    const { ask, node, time } = served()
    const ofSecond = 4
    const length = SERVER_BUDGET.perSecond / ofSecond
    const isAnswered = async (): Promise<boolean> =>
      (await ask('peer', length, OPTION_HEADERS | OPTION_MESSAGES)) !== GO_AWAY
    for (let i = 0; i < SERVER_BUDGET.capacity / length; i++) expect(await isAnswered()).toBe(true)
    for (let i = 0; i <= REFUSAL_BUDGET.capacity; i++) expect(await isAnswered()).toBe(false)
    expect(faults(node)).toEqual(['FLOOD'])
    await time.advance(ms / REFUSAL_BUDGET.perSecond)
    for (let i = 0; i < tipsets; i++) expect(await isAnswered()).toBe(true)
    expect(await isAnswered()).toBe(false)
    expect(faults(node)).toEqual(reported)
    expect(await isAnswered()).toBe(false)
    expect(faults(node)).toEqual([...reported, 'FLOOD'])
  })
})
