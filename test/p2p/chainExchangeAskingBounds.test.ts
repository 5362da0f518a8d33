/** Bounds of what the chain exchange asks: each at the bound and one above. */
import { describe, expect, it } from 'vitest'
import { concatBytes, fromHex, utf8 } from '../../src/base/bytes.ts'
import { sleep } from '../../src/base/waiting.ts'
import {
  CLIENT_LIMITS,
  MAX_ANSWER_BYTES,
  MAX_ATTEMPTS,
  MAX_HEADERS_BYTES,
  MAX_TEXT_BYTES,
} from '../../src/p2p/chainExchange/limits.ts'
import { CHAIN_EXCHANGE_PROTOCOL } from '../../src/p2p/chainExchange/messages.ts'
import { readAnswer } from '../../src/p2p/chainExchange/readAnswer.ts'
import type { Pace } from '../../src/p2p/framing/patientStream.ts'
import { StreamReader } from '../../src/p2p/framing/streamReader.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import { MemoryNetwork } from '../support/memoryNetwork.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { addClient, addLiar } from './exchangeNodes.ts'
import { cborBytes, endsAtBound, ServedStream } from './streams.ts'

const never = (): Promise<never> => new Promise(() => undefined)

describe('asked', () => {
  const { key } = createTipset([header(undefined, 1_000_000, 1)])
  const question = { head: key, length: 1, messages: false }

  it.each([
    [MAX_HEADERS_BYTES, 'GARBAGE'],
    [MAX_HEADERS_BYTES + 1, 'OVERSIZED'],
  ])('headers of %s bytes', async (bytes, fault) => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    addLiar(network, 'liar', () => concatBytes(fromHex('83006081'), cborBytes(bytes)))
    const { client, reports } = addClient(network, time, 'asker')
    network.connect('asker', 'liar')
    await expect(time.until(client.fetch(question, {}))).rejects.toMatchObject({ code: 'ALL_PEERS_FAILED' })
    expect(reports).toMatchObject([{ what: { fault } }])
  })

  it.each([
    [MAX_TEXT_BYTES, 'PEER_REFUSED'],
    [MAX_TEXT_BYTES + 1, 'TOO_LARGE'],
  ])('the text of an error of %s bytes', async (bytes, code) => {
    const text = utf8('x'.repeat(bytes))
    const answer = concatBytes(fromHex('8318ca79'), Uint8Array.of(bytes >> 8, bytes & 255), text, fromHex('80'))
    const reader = new StreamReader(new ServedStream(CHAIN_EXCHANGE_PROTOCOL, answer), CLIENT_LIMITS.maxBytes)
    const expected = { length: 1, maxTipsetBytes: MAX_HEADERS_BYTES }
    await expect(readAnswer(reader, expected, () => true)).rejects.toMatchObject({ code })
  })

  it('an answer of the longest is read, of a byte more not', async () => {
    const { maxBytes } = CLIENT_LIMITS
    expect(maxBytes).toBe(MAX_ANSWER_BYTES)
    expect(await endsAtBound(CHAIN_EXCHANGE_PROTOCOL, maxBytes, maxBytes)).toBe(true)
    await expect(endsAtBound(CHAIN_EXCHANGE_PROTOCOL, maxBytes + 1, maxBytes)).rejects.toMatchObject({
      code: 'TOO_LARGE',
    })
  })

  it('so many peers, one after the other', async () => {
    for (const [peers, asked] of [
      [MAX_ATTEMPTS, MAX_ATTEMPTS],
      [MAX_ATTEMPTS + 1, MAX_ATTEMPTS],
    ] as const) {
      const time = new VirtualTime()
      const network = new MemoryNetwork(time)
      const { client } = addClient(network, time, 'asker')
      let count = 0
      for (let i = 0; i < peers; i++) {
        addLiar(network, `peer ${i}`, () => {
          count++
          return fromHex('8318ca6080')
        })
        network.connect('asker', `peer ${i}`)
      }
      await expect(time.until(client.fetch(question, {}))).rejects.toMatchObject({ code: 'ALL_PEERS_FAILED' })
      expect(count).toBe(asked)
    }
  })

  it.each([
    ['a peer that opens no stream', CLIENT_LIMITS.openMs],
    ['a peer that takes no question', CLIENT_LIMITS.writeMs],
    ['a peer that says nothing', CLIENT_LIMITS.pace?.waitMs ?? 0],
    ['a peer that is just fast enough, and never done', CLIENT_LIMITS.answerMs],
  ])('%s is given up in time', async (what, ms) => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const perSecond = CLIENT_LIMITS.pace?.bytesPerSecond ?? 0
    network.addNode('peer').links.handle(CHAIN_EXCHANGE_PROTOCOL, async (_, stream) => {
      if (!what.includes('fast')) return await never()
      await stream.write(concatBytes(fromHex('83006081'), cborBytes(MAX_ANSWER_BYTES - 100).subarray(0, 10)))
      for (;;) {
        await new Promise<void>((resolve) => time.setTimeout(resolve, 1000))
        await stream.write(new Uint8Array(perSecond))
      }
    })
    const asker = addClient(network, time, 'asker')
    network.connect('asker', 'peer')
    if (what.includes('opens')) Object.assign(asker, { open: never })
    const takesNothing = new ServedStream(CHAIN_EXCHANGE_PROTOCOL, undefined, never)
    if (what.includes('takes')) Object.assign(asker, { open: () => Promise.resolve(takesNothing) })
    let error: unknown
    asker.client.fetch({ ...question, messages: true }, {}).catch((thrown: unknown) => {
      error = thrown
    })
    await time.advance(ms - 1)
    expect(error).toBeUndefined()
    await time.advance(1)
    expect(error).toMatchObject({ code: 'ALL_PEERS_FAILED', message: expect.stringContaining('ms') as unknown })
  })

  it.each([
    [0, false],
    [1, true],
  ])('%s bytes a second less than the pace: whether it is given up before its time: %s', async (less, isGivenUp) => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const { waitMs, bytesPerSecond } = CLIENT_LIMITS.pace as Pace
    network.addNode('peer').links.handle(CHAIN_EXCHANGE_PROTOCOL, async (_, stream) => {
      await stream.write(concatBytes(fromHex('83006081'), cborBytes(MAX_ANSWER_BYTES - 100).subarray(0, 10)))
      // Nearly all of its patience; then it lives by what it brings.
      await sleep(time, waitMs - 0.5)
      for (;;) {
        await stream.write(new Uint8Array(bytesPerSecond - less))
        await sleep(time, 1000)
      }
    })
    const { client } = addClient(network, time, 'asker')
    network.connect('asker', 'peer')
    let error: unknown
    client.fetch({ ...question, messages: true }, {}).catch((thrown: unknown) => {
      error = thrown
    })
    await time.advance(CLIENT_LIMITS.answerMs - 1)
    expect(error !== undefined).toBe(isGivenUp)
  })
})
