/** Peers that lie, stall, flood and send garbage over the chain exchange: each costs little, and is dealt with. */
import { describe, expect, it } from 'vitest'
import { concatBytes, fromHex, toHex, utf8 } from '../../src/base/bytes.ts'
import { decode, encode } from '../../src/codec/description.ts'
import {
  CHAIN_EXCHANGE_PROTOCOL,
  type CompactedMessages,
  type ExchangeResponse,
  type ExchangeTipset,
  exchangeRequest,
  exchangeResponse,
} from '../../src/p2p/chainExchange/messages.ts'
import type { ChainRequest } from '../../src/p2p/chainSource.ts'
import { MemoryNetwork, type MemoryNode } from '../support/memoryNetwork.ts'
import { seeded } from '../support/seeded.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { addClient, addLiar, addServer, askRaw, wireChain } from './exchangeNodes.ts'
import { readAll } from './streams.ts'
import { wireMissing, wireRows } from './wire.ts'

const LENGTH = 30
/** What bans, see src/p2p/faults.ts. */
const BANS = expect.stringMatching(/^(GARBAGE|OVERSIZED|FALSE_ANSWER)$/) as unknown
const never = new AbortController().signal

function recorded(note: string): Uint8Array {
  return fromHex(wireRows(CHAIN_EXCHANGE_PROTOCOL).find((row) => row.note === note)?.response as string)
}

/** What a Lotus node answered to 30 tipsets with messages. */
function honest(): ExchangeResponse {
  return decode(exchangeResponse, recorded('headers and messages, 30'))
}

/** The question that it answers. */
function question(messages = true): ChainRequest {
  const row = wireRows(CHAIN_EXCHANGE_PROTOCOL).find((one) => one.note === 'headers and messages, 30')
  return { head: decode(exchangeRequest, fromHex(row?.request as string)).head, length: LENGTH, messages }
}

function withTipset(response: ExchangeResponse, index: number, change: Partial<ExchangeTipset>): ExchangeResponse {
  return { ...response, chain: response.chain.map((one, i) => (i === index ? { ...one, ...change } : one)) }
}

/** Changes the messages of the first tipset that has some. */
function withMessages(
  response: ExchangeResponse,
  change: (messages: CompactedMessages) => Partial<CompactedMessages>,
): ExchangeResponse {
  const index = response.chain.findIndex((one) => (one.messages?.secpk.length ?? 0) > 0)
  const messages = response.chain[index]?.messages as CompactedMessages
  return withTipset(response, index, { messages: { ...messages, ...change(messages) } })
}

function at<T>(list: readonly T[], index: number): T {
  return list[index] as T
}

function swap<T>(list: readonly T[], i: number, j: number): T[] {
  return list.map((one, k) => (k === i ? at(list, j) : k === j ? at(list, i) : one))
}

/** Lies, each by one change of an honest answer. */
const LIES: Readonly<Record<string, (response: ExchangeResponse) => ExchangeResponse>> = {
  'another head': (r) => ({ ...r, chain: [...r.chain.slice(1), at(r.chain, 0)] }),
  'a block of the head left out': (r) => withTipset(r, 0, { blocks: at(r.chain, 0).blocks.slice(1) }),
  'a block twice': (r) => withTipset(r, 0, { blocks: [at(at(r.chain, 0).blocks, 0), ...at(r.chain, 0).blocks] }),
  'a changed header': (r) =>
    withTipset(r, 3, { blocks: at(r.chain, 3).blocks.map((one) => ({ ...one, timestamp: one.timestamp + 1 })) }),
  'other parents': (r) => ({ ...r, chain: swap(r.chain, 5, 6) }),
  'a tipset left out': (r) => ({ ...r, status: 101, chain: r.chain.filter((_, i) => i !== 7) }),
  'blocks of different heights': (r) =>
    withTipset(r, 1, { blocks: [...at(r.chain, 1).blocks, ...at(r.chain, 2).blocks] }),
  'no blocks': (r) => withTipset(r, 2, { blocks: [] }),
  'no messages': (r) => withTipset(r, 4, { messages: null }),
  'more tipsets than asked for': (r) => ({ ...r, chain: [...r.chain, at(r.chain, 0)] }),
  'a changed message': (r) =>
    withMessages(r, ({ secpk }) => ({
      secpk: secpk.map((one) => ({ ...one, message: { ...one.message, nonce: one.message.nonce + 1n } })),
    })),
  'a message left out': (r) =>
    withMessages(r, ({ secpkIncludes }) => ({ secpkIncludes: secpkIncludes.map((one) => one.slice(1)) })),
  'an index without a message': (r) =>
    withMessages(r, ({ secpkIncludes }) => ({ secpkIncludes: secpkIncludes.map((one) => [...one, 99]) })),
  'includes for other blocks': (r) =>
    withMessages(r, ({ secpkIncludes }) => ({ secpkIncludes: [...secpkIncludes, []] })),
}

/** Bytes that are no answer. */
const GARBAGE: Readonly<Record<string, Uint8Array>> = {
  text: utf8('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'an indefinite array': fromHex('9f00'),
  'two fields': fromHex('820060'),
  'a text that is not UTF-8': fromHex('830062fffe80'),
  'a text that says it is huge': fromHex('83007affffffff'),
  'a chain that is a map': fromHex('830060a0'),
  'a tipset that says it is huge': fromHex('83006098' + '1e' + '825a7fffffff'),
  'nested without end': concatBytes(fromHex('830060981e'), new Uint8Array(200_000).fill(0x81), fromHex('00')),
  'a list of more than there can be': fromHex('830060981e829affffffff'),
  'a float': fromHex('830060981e82fb0000000000000000'),
}

/** What a peer may well say. */
const REFUSALS: Readonly<Record<string, Uint8Array>> = {
  'go away': fromHex('8318ca6080'),
  'not found': fromHex('8318c96080'),
  'an internal error': fromHex('8318cb636f687780'),
  'an unknown status': fromHex('831901006080'),
  'nothing, and all is well': fromHex('83006080'),
  'the half of an answer': recorded2('headers and messages, 30').subarray(0, 3000),
  'fewer, as if it were all': encodeOr(() =>
    encode(exchangeResponse, { ...honest(), chain: honest().chain.slice(0, 9) }),
  ),
}

function recorded2(note: string): Uint8Array {
  return wireMissing === undefined ? recorded(note) : new Uint8Array(0)
}

function encodeOr(make: () => Uint8Array): Uint8Array {
  return wireMissing === undefined ? make() : new Uint8Array(0)
}

interface Outcome {
  readonly asker: MemoryNode
  readonly peer: string
  readonly tookMs: number
  readonly reports: MemoryNode['reports']
}

/** Asks the liar first, then who is honest. */
async function askLiarFirst(answer: Uint8Array, asked = question()): Promise<Outcome> {
  const time = new VirtualTime()
  const network = new MemoryNetwork(time)
  addLiar(network, 'liar', () => answer)
  addServer(network, time, 'honest')
  const asker = addClient(network, time, 'asker')
  network.connect('asker', 'liar')
  network.connect('asker', 'honest')
  const began = time.nowMs()
  const fetched = await time.until(asker.client.fetch(asked, { prefer: 'liar' }))
  const tookMs = time.nowMs() - began
  expect(fetched.tipsets).toHaveLength(LENGTH)
  await time.advance(5000)
  expect(asker.openStreams).toBe(0)
  expect(time.pending).toBe(0)
  return { asker, peer: fetched.peer, tookMs, reports: asker.reports }
}

describe.skipIf(wireMissing !== undefined)('hostile peers of the chain exchange', () => {
  it('the honest answer is taken', async () => {
    const outcome = await askLiarFirst(encode(exchangeResponse, honest()))
    expect(outcome.peer).toBe('liar')
    expect(outcome.reports).toEqual([])
  })

  it.each(Object.entries(LIES))('%s: banned, another peer answers', async (_, lie) => {
    const outcome = await askLiarFirst(encode(exchangeResponse, lie(honest())))
    expect(outcome.peer).toBe('honest')
    expect(outcome.reports).toMatchObject([{ peer: 'liar', what: { fault: BANS } }])
    expect(outcome.asker.links.peers()).toEqual(['honest'])
    expect(outcome.tookMs).toBe(0)
  })

  it.each(Object.entries(GARBAGE))('%s: banned, another peer answers', async (_, bytes) => {
    const outcome = await askLiarFirst(bytes)
    expect(outcome.peer).toBe('honest')
    expect(outcome.reports).toMatchObject([{ peer: 'liar', what: { fault: BANS } }])
  })

  it.each(Object.entries(REFUSALS))('%s: no misbehaviour, another peer answers', async (_, bytes) => {
    const outcome = await askLiarFirst(bytes)
    expect(outcome.peer).toBe('honest')
    expect(outcome.reports.filter((one) => one.what.fault !== 'CUT_OFF')).toEqual([])
    expect(outcome.asker.links.peers()).toContain('liar')
  })

  it('headers of more than 1 MiB are refused before they have come', async () => {
    const block = at(at(honest().chain, 0).blocks, 0)
    const blocks = Array.from({ length: 2000 }, () => block)
    const outcome = await askLiarFirst(encode(exchangeResponse, withTipset(honest(), 0, { blocks })), question(false))
    expect(outcome.peer).toBe('honest')
    expect(outcome.reports).toMatchObject([{ peer: 'liar', what: { fault: BANS } }])
  })

  it('messages lie where only they are asked for', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const lie = withMessages(honest(), ({ secpkIncludes }) => ({ secpkIncludes: secpkIncludes.map(() => []) }))
    addLiar(network, 'liar', () => encode(exchangeResponse, lie))
    addServer(network, time, 'honest')
    const asker = addClient(network, time, 'asker')
    network.connect('asker', 'liar')
    network.connect('asker', 'honest')
    const { tipsets } = await asker.client.fetch(question(), { prefer: 'honest' })
    const headers = tipsets.map((one) => one.tipset)
    const messages = await asker.client.fetchMessages(headers, { prefer: 'liar' })
    expect(messages).toEqual(tipsets.map((one) => one.messages))
    expect(asker.reports).toMatchObject([{ peer: 'liar', what: { fault: BANS } }])
  })

  /** A peer that sends its answer in pieces, each after a pause. */
  async function askSlow(pieceBytes: number, pauseMs: number): Promise<Outcome> {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const answer = encode(exchangeResponse, honest())
    network.addNode('slow').links.handle(CHAIN_EXCHANGE_PROTOCOL, async (_, stream) => {
      for (let from = 0; from < answer.length; from += pieceBytes) {
        await stream.write(answer.subarray(from, from + pieceBytes))
        await new Promise<void>((resolve) => time.setTimeout(resolve, pauseMs))
      }
      await stream.closeWrite()
    })
    addServer(network, time, 'honest')
    const asker = addClient(network, time, 'asker')
    network.connect('asker', 'slow')
    network.connect('asker', 'honest')
    const began = time.nowMs()
    const { peer } = await time.until(asker.client.fetch(question(), { prefer: 'slow' }))
    return { asker, peer, tookMs: time.nowMs() - began, reports: asker.reports }
  }

  it('a byte a second is too slow: given up within seconds', async () => {
    const outcome = await askSlow(1, 1000)
    expect(outcome.peer).toBe('honest')
    expect(outcome.tookMs).toBeLessThanOrEqual(6000)
    expect(outcome.reports).toMatchObject([{ peer: 'slow', what: { fault: 'SLOW' } }])
  })

  it('60 KiB/s is fast enough', async () => {
    const outcome = await askSlow(6 * 1024, 100)
    expect(outcome.peer).toBe('slow')
    expect(outcome.reports).toEqual([])
  })

  it('answers with random faults are the honest one or fail, never anything else', async () => {
    const random = seeded('hostile exchange')
    const answer = encode(exchangeResponse, honest())
    for (let run = 0; run < 40; run++) {
      const time = new VirtualTime()
      const network = new MemoryNetwork(time)
      const bytes = answer.slice()
      for (let i = random.int(3); i >= 0; i--) bytes[random.int(bytes.length)] = random.int(256)
      const cut = random.int(10) === 0 ? bytes.subarray(0, random.int(bytes.length)) : bytes
      addLiar(network, 'liar', () => cut)
      const asker = addClient(network, time, 'asker')
      network.connect('asker', 'liar')
      const fetched = await time.until(asker.client.fetch(question(), {})).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'ALL_PEERS_FAILED' })
        return undefined
      })
      if (fetched === undefined) continue
      expect(
        toHex(encode(exchangeResponse, { ...honest(), chain: fetched.tipsets.map((_, i) => at(honest().chain, i)) })),
      ).toBe(toHex(answer))
      expect(fetched.tipsets.map((one) => one.tipset.blocks)).toEqual(honest().chain.map((one) => one.blocks))
    }
  })
})

describe.skipIf(wireMissing !== undefined)('hostile askers of the chain exchange', () => {
  function start(): { time: VirtualTime; network: MemoryNetwork; server: MemoryNode; asker: MemoryNode } {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const server = addServer(network, time, 'server')
    const asker = network.addNode('asker')
    network.connect('server', 'asker')
    return { time, network, server, asker }
  }

  function fullRequest(): Uint8Array {
    return encode(exchangeRequest, { head: [...wireChain().head().key], length: 900n, options: 3n })
  }

  it.each([
    ['garbage', utf8('GET / HTTP/1.1\r\n\r\n')],
    ['too many CIDs', concatBytes(fromHex('83991000'), new Uint8Array(5000))],
    ['negative length', fromHex('83802001')],
    ['no integers', fromHex('8380f5f5')],
  ])('%s: banned, no answer', async (_, bytes) => {
    const { server, asker } = start()
    await expect(askRaw(asker, 'server', bytes)).rejects.toMatchObject({ code: 'STREAM_RESET' })
    expect(server.reports).toMatchObject([{ peer: 'asker', what: { fault: BANS } }])
    expect(server.links.peers()).toEqual([])
  })

  it('half a request is given up after 10 s; so many wait, no more', async () => {
    const { time, server, asker } = start()
    for (let i = 0; i < 50; i++) {
      const stream = await asker.links.open('server', [CHAIN_EXCHANGE_PROTOCOL], never)
      await stream.write(Uint8Array.of(0x83)).catch(() => undefined)
    }
    await time.settle()
    expect(server.openStreams).toBe(32)
    expect(server.reports).toHaveLength(18)
    await time.advance(11_000)
    expect(server.openStreams).toBe(0)
    expect(time.pending).toBe(0)
  })

  it('requests at once: a few are answered, others wait, and nobody is told to go away for a Lotus that catches up', async () => {
    const { time, server, asker } = start()
    const answers = await time.until(
      Promise.all(Array.from({ length: 16 }, () => askRaw(asker, 'server', fullRequest()))),
    )
    const statuses = answers.map((answer) => decode(exchangeResponse, fromHex(answer)).status)
    expect(statuses).toEqual(answers.map(() => 101))
    expect(server.reports).toEqual([])
    await time.advance(3000)
    expect(server.openStreams).toBe(0)
  })

  it('one request after the other: told to go away until time has passed', async () => {
    const { time, server, asker } = start()
    const statuses: number[] = []
    const ask = async (): Promise<void> => {
      statuses.push(decode(exchangeResponse, fromHex(await askRaw(asker, 'server', fullRequest()))).status)
    }
    for (let i = 0; i < 30; i++) await ask()
    expect(statuses.slice(0, 22).every((status) => status === 101)).toBe(true)
    expect(statuses.slice(22).every((status) => status === 202)).toBe(true)
    expect(server.reports).toEqual([])
    for (let i = 0; i < 30; i++) await ask()
    expect(server.reports).toHaveLength(6)
    expect(server.reports.every((one) => one.what.fault === 'FLOOD')).toBe(true)
    await time.advance(2000)
    await ask()
    expect(statuses.pop()).toBe(101)
  })

  it('a reader that does not read holds an answer for 10 s at most', async () => {
    const { time, network, server } = start()
    const asker = network.get('asker')
    // The recorded chain's answers fit into a stream's window: one that is never emptied stands for a slow reader.
    network.setFaults('server', 'asker', { garble: () => new Uint8Array(300 * 1024) })
    const stream = await asker.open('server', [CHAIN_EXCHANGE_PROTOCOL], never)
    await stream.write(fullRequest())
    await stream.closeWrite()
    await time.advance(1000)
    expect(server.openStreams).toBe(1)
    await time.advance(10_000)
    expect(server.openStreams).toBe(0)
    await expect(readAll(stream)).rejects.toMatchObject({ code: 'STREAM_RESET' })
    expect(server.reports).toMatchObject([{ peer: 'asker', what: { fault: 'SLOW' } }])
  })

  it('random requests are answered or refused, and the server goes on', async () => {
    const random = seeded('hostile asker')
    const good = fullRequest()
    for (let run = 0; run < 40; run++) {
      const { time, asker, server } = start()
      const bytes = good.slice()
      for (let i = random.int(3); i >= 0; i--) bytes[random.int(bytes.length)] = random.int(256)
      const answer = await time.until(askRaw(asker, 'server', bytes)).catch(() => undefined)
      if (answer !== undefined) decode(exchangeResponse, fromHex(answer))
      await time.advance(20_000)
      expect(server.openStreams).toBe(0)
    }
  })
})
