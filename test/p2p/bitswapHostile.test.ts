/** Bitswap with peers that do not behave. */

import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { putBlock } from '../../src/ipld/blockstore.ts'
import { MAX_STREAMS } from '../../src/p2p/bitswap/limits.ts'
import { encodeMessage } from '../../src/p2p/bitswap/messages.ts'
import { readAll } from './streams.ts'
import { block, NEWEST, never, Swaps, sendTo, texts } from './swaps.ts'

describe('bitswap: hostile peers', () => {
  it('a false block is no block: the want goes on', async () => {
    const swaps = new Swaps()
    const { cid } = block('true')
    swaps.addScripted('liar', async (message, node) => {
      if (message.wants.every((want) => want.cancel)) return
      // Bytes under a prefix: whoever reads computes the CID, and nobody asked for that one.
      await sendTo(node, 'client', { blocks: [{ cid, data: utf8('false') }] })
    })
    const server = swaps.add('server')
    putBlock(server.blocks, utf8('true'))
    const { swap, reports } = swaps.add('client', 'liar', 'server')
    expect(texts(await swaps.time.until(swap.source.fetch([cid], undefined)))).toEqual(['true'])
    expect(reports).toEqual([])
  })

  it('who says many times over that it has not got a block does not end the want early', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const { cid, data } = block('late')
    swaps.addScripted('liar', async ({ wants }, node) => {
      if (!wants.some((want) => want.cid.equals(cid) && !want.cancel)) return
      await sendTo(node, 'client', { presences: Array.from({ length: 20 }, () => ({ cid, has: false })) })
    })
    const { swap } = swaps.add('client', 'server', 'liar')
    const fetching = swap.source.fetch([cid], undefined)
    await swaps.time.advance(200)
    server.blocks.put(cid, data)
    expect(await swaps.time.until(fetching)).toHaveLength(1)
  })

  it('a flood of blocks that nobody asked for slows the flooder down, and nobody else', async () => {
    const swaps = new Swaps()
    const client = swaps.add('client')
    const flooder = swaps.addScripted('flooder', () => undefined)
    swaps.network.connect('flooder', 'client')
    const stream = await flooder.links.open('client', [NEWEST], never)
    let taken = 0
    void (async () => {
      for (; ; taken++) {
        await stream.write(
          encodeMessage({ wants: [], presences: [], blocks: [block(`flood ${taken} ${'.'.repeat(10_000)}`)] }, NEWEST),
        )
      }
    })().catch(() => undefined)
    await swaps.time.advance(10_000)
    // 256 that are borne, what fits into the stream, and then one a second.
    expect(taken).toBeLessThan(256 + 60 + 10)
    expect(client.reports.every((one) => one.what.fault === 'UNASKED')).toBe(true)
    expect(client.reports.length).toBeGreaterThan(5)
    expect(client.blocks.size).toBe(0)
    const honest = swaps.add('honest')
    const cid = putBlock(honest.blocks, utf8('wanted'))
    swaps.network.connect('client', 'honest')
    await swaps.time.settle()
    expect(texts(await swaps.time.until(client.swap.source.fetch([cid], undefined)))).toEqual(['wanted'])
    expect(client.links.peers()).toEqual(['flooder', 'honest'])
  })

  it.each([
    ['a message that says it is longer than boxo reads', Uint8Array.of(0x81, 0x80, 0x80, 0x02)],
    ['a length that never ends', new Uint8Array(6).fill(0xff)],
    ['bytes that are no message', Uint8Array.of(3, 0x0a, 0x7f, 0x00)],
    ['a want without a CID', Uint8Array.of(6, 0x0a, 0x04, 0x0a, 0x02, 0x10, 0x01)],
    ['a want of something that is no CID', Uint8Array.of(7, 0x0a, 0x05, 0x0a, 0x03, 0x0a, 0x01, 0x09)],
  ])('%s bans', async (_, bytes) => {
    const swaps = new Swaps()
    const client = swaps.add('client')
    const peer = swaps.network.addNode('peer')
    swaps.network.connect('peer', 'client')
    const stream = await peer.links.open('client', [NEWEST], never)
    await stream.write(bytes)
    await expect(readAll(stream)).rejects.toMatchObject({ code: 'STREAM_RESET' })
    expect(client.reports).toMatchObject([
      { peer: 'peer', what: { fault: expect.stringMatching(/GARBAGE|OVERSIZED/) as unknown } },
    ])
    expect(client.links.peers()).toEqual([])
  })

  it('half a message is given up after 20 s; an idle stream is not', async () => {
    const swaps = new Swaps()
    const client = swaps.add('client')
    const peer = swaps.network.addNode('peer')
    swaps.network.connect('peer', 'client')
    const idle = await peer.links.open('client', [NEWEST], never)
    const half = await peer.links.open('client', [NEWEST], never)
    await half.write(Uint8Array.of(50, 1, 2, 3))
    await swaps.time.advance(21_000)
    await expect(half.read()).rejects.toMatchObject({ code: 'STREAM_RESET' })
    await idle.write(Uint8Array.of(0))
    expect(client.openStreams).toBe(1)
    expect(client.reports).toEqual([])
  })

  it('too many streams are refused', async () => {
    const swaps = new Swaps()
    const client = swaps.add('client')
    const peer = swaps.network.addNode('peer')
    swaps.network.connect('peer', 'client')
    for (let i = 0; i < MAX_STREAMS + 36; i++) await peer.links.open('client', [NEWEST], never)
    await swaps.time.settle()
    expect(client.openStreams).toBe(MAX_STREAMS)
    expect(client.reports).toHaveLength(36)
  })

  it('a flood of wants from a peer that reads no answers waits in a bounded queue', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const large = putBlock(server.blocks, new Uint8Array(500_000))
    const peer = swaps.network.addNode('peer')
    peer.links.handle(NEWEST, () => new Promise(() => undefined))
    swaps.network.connect('peer', 'server')
    const stream = await peer.links.open('server', [NEWEST], never)
    for (let i = 0; i < 40; i++) {
      const wants = Array.from({ length: 1000 }, (_, j) => ({
        cid: j === 0 ? large : block(`${i}/${j}`).cid,
        type: 'block' as const,
        cancel: false,
        sendDontHave: true,
      }))
      await stream.write(encodeMessage({ wants, blocks: [], presences: [] }, NEWEST))
      await swaps.time.settle()
      expect(server.swap.pending().serving).toBeLessThanOrEqual(16_384)
    }
    expect(server.reports.length).toBeGreaterThan(0)
    expect(server.reports.every((one) => one.what.fault === 'FLOOD')).toBe(true)
    await swaps.time.advance(60_000)
    expect(server.swap.pending().serving).toBe(0)
  })
})
