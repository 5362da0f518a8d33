/** The chain exchange against what a Lotus node answered on the same chain, and between two of ours. */
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { BlockMessageReader } from '../../src/chain/blockMessages.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { CHAIN_EXCHANGE_PROTOCOL, exchangeRequest, exchangeResponse } from '../../src/p2p/chainExchange/messages.ts'
import { serveChainExchange } from '../../src/p2p/chainExchange/server.ts'
import { message, messageCid } from '../../src/types/message.ts'
import { signedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { MemoryNetwork } from '../support/memoryNetwork.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { addClient, addLiar, addServer, askRaw, wireChain } from './exchangeNodes.ts'
import { wireMissing, wireRows } from './wire.ts'

function chainDown(length: number): Tipset[] {
  const store = wireChain()
  const out = [store.head()]
  while (out.length < length) out.push(store.parent(out[out.length - 1] as Tipset))
  return out
}

function keyTexts(tipsets: readonly Tipset[]): string[] {
  return tipsets.map((tipset) => tipset.key.map(String).join())
}

const reader = wireMissing === undefined ? new BlockMessageReader(wireChain().blocks) : undefined

/** Messages of a tipset's blocks as bytes, out of the archive. */
function storedMessages(tipset: Tipset): string[][] {
  return tipset.blocks.map((block) => {
    const { bls, signed } = (reader as BlockMessageReader).messages(block)
    return [...bls.map((one) => toHex(encode(message, one))), ...signed.map((one) => toHex(encode(signedMessage, one)))]
  })
}

describe.skipIf(wireMissing !== undefined)('chain exchange', () => {
  const rows = wireMissing === undefined ? wireRows(CHAIN_EXCHANGE_PROTOCOL) : []

  it('has all the recorded requests', () => {
    expect(rows).toHaveLength(14)
  })

  it.each(rows.map((row) => [row.note as string, row] as const))(
    '%s: the bytes that Lotus answered',
    async (_, row) => {
      const time = new VirtualTime()
      const network = new MemoryNetwork(time)
      const server = addServer(network, time, 'server')
      const asker = network.addNode('asker')
      network.connect('server', 'asker')
      expect(await askRaw(asker, 'server', fromHex(row.request as string))).toBe(row.response)
      await time.advance(3000)
      expect(server.openStreams).toBe(0)
      expect(server.reports).toEqual([])
      expect(time.pending).toBe(0)
    },
  )

  it.each(rows.map((row) => [row.note as string, row] as const))('%s: decoded and encoded again', (_, row) => {
    const request = decode(exchangeRequest, fromHex(row.request as string))
    expect(toHex(encode(exchangeRequest, request))).toBe(row.request)
    const response = decode(exchangeResponse, fromHex(row.response as string))
    expect(toHex(encode(exchangeResponse, response))).toBe(row.response)
  })

  it('headers and messages as they are in the archive, in block order', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    addServer(network, time, 'server')
    const { client, reports, tags } = addClient(network, time, 'asker')
    network.connect('server', 'asker')
    const expected = chainDown(100)
    const head = wireChain().head()
    const { peer, tipsets } = await client.fetch({ head: head.key, length: 100, messages: true }, {})
    expect(peer).toBe('server')
    expect(keyTexts(tipsets.map((one) => one.tipset))).toEqual(keyTexts(expected))
    let sent = 0
    tipsets.forEach((one, i) => {
      const got = (one.messages ?? []).map(({ bls, signed }) => [
        ...bls.map((message_) => toHex(encode(message, message_))),
        ...signed.map((message_) => toHex(encode(signedMessage, message_))),
      ])
      expect(got).toEqual(storedMessages(expected[i] as Tipset))
      sent += got.flat().length
    })
    expect(sent).toBe(13)
    expect(reports).toEqual([])
    expect(tags.get('server')?.get('bsync')).toBe(25)
  })

  it('a chain with messages in several blocks of a tipset, each sent once', async () => {
    const { store } = openRecordedView('nv28').view
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const server = network.addNode('server')
    serveChainExchange({ links: server.links, chain: store, clock: time, timers: time, log: silentLog })
    const { client } = addClient(network, time, 'asker')
    network.connect('server', 'asker')
    const { tipsets } = await time.until(client.fetch({ head: store.head().key, length: 900, messages: true }, {}))
    expect(tipsets[tipsets.length - 1]?.tipset.height).toBe(0)
    const reader28 = new BlockMessageReader(store.blocks)
    let inBlocks = 0
    let different = 0
    for (const { tipset, messages } of tipsets) {
      expect(messages).toEqual(tipset.blocks.map((block) => reader28.messages(block)))
      const cids = (messages ?? []).flatMap(({ bls, signed }) => [
        ...bls.map((one) => messageCid(one).key),
        ...signed.map((one) => signedMessageCid(one).key),
      ])
      inBlocks += cids.length
      different += new Set(cids).size
    }
    expect(inBlocks).toBeGreaterThan(different)
  })

  it('stops at genesis', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    addServer(network, time, 'server')
    const { client } = addClient(network, time, 'asker')
    network.connect('server', 'asker')
    const { tipsets } = await client.fetch({ head: wireChain().head().key, length: 900, messages: false }, {})
    expect(tipsets[tipsets.length - 1]?.tipset.height).toBe(0)
    expect(tipsets.every((one) => one.messages === undefined)).toBe(true)
  })

  it('asks for the rest of partial answers', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    addServer(network, time, 'server', 10_000)
    const { client } = addClient(network, time, 'asker')
    network.connect('server', 'asker')
    const expected = chainDown(60)
    const one = decode(
      exchangeResponse,
      fromHex(
        await askRaw(
          network.get('asker'),
          'server',
          encode(exchangeRequest, { head: [...wireChain().head().key], length: 60n, options: 3n }),
        ),
      ),
    )
    expect(one.status).toBe(101)
    expect(one.chain.length).toBeGreaterThan(0)
    expect(one.chain.length).toBeLessThan(60)
    const { tipsets } = await client.fetch({ head: wireChain().head().key, length: 60, messages: true }, {})
    expect(keyTexts(tipsets.map((each) => each.tipset))).toEqual(keyTexts(expected))
    const messages = await client.fetchMessages(expected, {})
    expect(messages).toEqual(tipsets.map((each) => each.messages))
    const backwards = await client.fetchMessages([...expected].reverse(), {})
    expect(backwards).toEqual([...messages].reverse())
    const some = expected.filter((_, i) => i % 7 !== 3)
    expect(await client.fetchMessages(some, {})).toEqual(messages.filter((_, i) => i % 7 !== 3))
  })

  it('goes on with another peer, and leaves the bad one for later', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    network.addNode('mute').links.handle(CHAIN_EXCHANGE_PROTOCOL, () => new Promise(() => undefined))
    addServer(network, time, 'server')
    const asker = addClient(network, time, 'asker')
    network.connect('asker', 'mute')
    network.connect('asker', 'server')
    const request = { head: wireChain().head().key, length: 5, messages: true }
    const began = time.nowMs()
    const first = await time.until(asker.client.fetch(request, { prefer: 'mute' }))
    expect(first.peer).toBe('server')
    expect(time.nowMs() - began).toBe(5000)
    const second = await time.until(asker.client.fetch(request, {}))
    expect(second.peer).toBe('server')
    expect(time.nowMs() - began).toBe(5000)
    expect(asker.reports).toMatchObject([{ peer: 'mute', what: { fault: 'SLOW' } }])
  })

  it('leaves nobody for later who has not what nobody may have', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const { client } = addClient(network, time, 'asker')
    const question = { head: wireChain().head().key, length: 1, messages: false }
    const asked: string[] = []
    // Not found, and go away.
    for (const [name, answer] of [
      ['honest', '8318c96080'],
      ['busy', '8318ca6080'],
    ] as const) {
      addLiar(network, name, () => {
        asked.push(name)
        return fromHex(answer)
      })
    }
    const fails = (): Promise<void> =>
      expect(time.until(client.fetch(question, {}))).rejects.toMatchObject({ code: 'ALL_PEERS_FAILED' })
    network.connect('asker', 'honest')
    for (let i = 0; i < 3; i++) await fails()
    network.connect('asker', 'busy')
    await fails()
    asked.length = 0
    await fails()
    expect(asked).toEqual(['honest', 'busy'])
  })

  it('says who failed, and that nobody is there', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    addServer(network, time, 'server')
    const { client, reports } = addClient(network, time, 'asker')
    const unknown = [blockCid(Uint8Array.of(1))]
    const request = { head: unknown, length: 5, messages: true }
    await expect(client.fetch(request, {})).rejects.toMatchObject({ code: 'NO_PEERS' })
    network.connect('server', 'asker')
    await expect(client.fetch(request, {})).rejects.toMatchObject({
      code: 'ALL_PEERS_FAILED',
      message: expect.stringContaining(`get block ${unknown[0]}: ipld: could not find`) as string,
    })
    // Not to know a block is no misbehaviour.
    expect(reports).toEqual([])
  })

  it('asks who told of a head before that peer has said what it speaks, and nobody else', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    addServer(network, time, 'server')
    const asker = addClient(network, time, 'asker')
    network.connect('server', 'asker')
    asker.links.speaks = () => undefined
    const request = { head: wireChain().head().key, length: 1, messages: true }
    const { peer, tipsets } = await asker.client.fetch(request, { prefer: 'server' })
    expect([peer, tipsets.length]).toEqual(['server', 1])
    await expect(asker.client.fetch(request, {})).rejects.toMatchObject({ code: 'NO_PEERS' })
    asker.links.speaks = () => false
    await expect(asker.client.fetch(request, { prefer: 'server' })).rejects.toMatchObject({ code: 'NO_PEERS' })
  })

  it('can be given up', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    network.addNode('mute').links.handle(CHAIN_EXCHANGE_PROTOCOL, () => new Promise(() => undefined))
    const asker = addClient(network, time, 'asker')
    network.connect('asker', 'mute')
    const control = new AbortController()
    const request = { head: wireChain().head().key, length: 5, messages: true }
    const fetching = asker.client.fetch(request, { signal: control.signal })
    await time.advance(100)
    control.abort(new Error('enough'))
    await expect(fetching).rejects.toThrow('enough')
    expect(asker.reports).toEqual([])
    expect(asker.openStreams).toBe(0)
    expect(time.pending).toBe(0)
  })
})
