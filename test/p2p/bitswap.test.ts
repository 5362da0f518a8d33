/** Bitswap between nodes in memory: fetching, and falling back. */

import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { type Cid, cidFromBytes } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { BlockFetcher } from '../../src/ipld/blockFetcher.ts'
import { getBlock, MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { withBlocks } from '../../src/ipld/withBlocks.ts'
import { FETCH_WINDOW } from '../../src/p2p/bitswap/limits.ts'
import type { BitswapMessage } from '../../src/p2p/bitswap/messages.ts'
import { seeded } from '../support/seeded.ts'
import { block, NEWEST, Swaps, sendTo, texts } from './swaps.ts'

describe('bitswap', () => {
  it('brings what a peer has, and says quickly what nobody has', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const { swap, reports } = swaps.add('client', 'server')
    const cids = ['a', 'b', 'c'].map((text) => putBlock(server.blocks, utf8(text)))
    const missing = block('missing').cid
    const found = await swaps.time.until(swap.source.fetch([...cids, missing], undefined))
    expect(texts(found)).toEqual(['a', 'b', 'c'])
    expect(swap.pending().fetching).toBe(0)
    expect(server.swap.pending().serving).toBe(0)
    expect(reports).toEqual([])
  })

  it('without peers ends at once', async () => {
    const swaps = new Swaps()
    const { swap } = swaps.add('client')
    expect(await swap.source.fetch([block('a').cid], undefined)).toEqual([])
  })

  it('thousands at once, in windows, and large ones', async () => {
    const random = seeded('bitswap blocks')
    const swaps = new Swaps()
    const server = swaps.add('server')
    const { swap, reports } = swaps.add('client', 'server')
    const cids = Array.from({ length: 3000 }, () => putBlock(server.blocks, random.bytes(32 + random.int(200))))
    cids.push(putBlock(server.blocks, random.bytes(1_000_000)), putBlock(server.blocks, random.bytes(1_000_000)))
    const found = await swaps.time.until(swap.source.fetch(cids, undefined))
    expect(found).toHaveLength(cids.length)
    for (const [cid, data] of found) expect(String(blockCid(data))).toBe(String(cid))
    expect([...reports, ...server.reports]).toEqual([])
  })

  it('reads on over one stream once a peer has shown that it does', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const { swap } = swaps.add('client', 'server')
    const cids = Array.from({ length: 60 }, (_, i) => putBlock(server.blocks, utf8(`block ${i}`)))
    let opened = 0
    for (const name of ['server', 'client']) {
      const node = swaps.network.get(name)
      const open = node.open.bind(node)
      node.open = (...args) => {
        opened++
        return open(...args)
      }
    }
    await swap.source.fetch(cids.slice(0, 1), undefined)
    await swaps.time.advance(4000)
    const before = opened
    for (const cid of cids.slice(1)) expect(await swap.source.fetch([cid], undefined)).toHaveLength(1)
    expect(opened).toBe(before)
    await swaps.time.advance(5000)
    expect(swaps.time.pending).toBe(0)
    expect(server.openStreams).toBe(2)
    swap.stop()
    server.swap.stop()
    await swaps.time.advance(5000)
    expect(server.openStreams).toBe(0)
  })

  it('asks others for what the first has not got, and stays with who has', async () => {
    const swaps = new Swaps()
    for (let i = 0; i < 12; i++) swaps.add(`empty ${i}`)
    const server = swaps.add('server')
    const names = [...Array.from({ length: 12 }, (_, i) => `empty ${i}`), 'server']
    const { swap } = swaps.add('client', ...names)
    const large = putBlock(server.blocks, new Uint8Array(5000))
    const began = swaps.time.nowMs()
    expect(await swaps.time.until(swap.source.fetch([large], undefined))).toHaveLength(1)
    // Every empty peer says so at once: no waiting on timers.
    expect(swaps.time.nowMs()).toBe(began)
    let asked = 0
    for (const name of names.slice(0, -1)) {
      const node = swaps.network.get(name)
      const serve = node.handlers.get(NEWEST)
      node.handle(NEWEST, async (peer, stream) => {
        asked++
        await serve?.(peer, stream)
      })
    }
    expect(await swap.source.fetch([putBlock(server.blocks, utf8('next'))], undefined)).toHaveLength(1)
    expect(asked).toBe(0)
  })

  it('does not wait long for a peer that says nothing', async () => {
    const swaps = new Swaps()
    swaps.addScripted('mute', () => undefined)
    const server = swaps.add('server')
    const { swap, reports } = swaps.add('client', 'mute', 'server')
    const cid = putBlock(server.blocks, new Uint8Array(5000))
    const began = swaps.time.nowMs()
    expect(await swaps.time.until(swap.source.fetch([cid], undefined))).toHaveLength(1)
    expect(swaps.time.nowMs() - began).toBe(1000)
    expect(reports).toEqual([])
  })

  it('gives up after 30 s when the only peer says nothing', async () => {
    const swaps = new Swaps()
    swaps.addScripted('mute', () => undefined)
    const client = swaps.add('client', 'mute')
    const began = swaps.time.nowMs()
    expect(await swaps.time.until(client.swap.source.fetch([block('a').cid], undefined))).toEqual([])
    expect(swaps.time.nowMs() - began).toBe(30_000)
    await swaps.time.advance(30_000)
    expect(client.openStreams).toBe(0)
    expect(swaps.time.pending).toBe(0)
  })

  it('gives up after 30 s of each caller, though another waits on', async () => {
    const swaps = new Swaps()
    const heard: BitswapMessage[] = []
    swaps.addScripted('mute', (message) => void heard.push(message))
    const { swap } = swaps.add('client', 'mute')
    const ends: string[] = []
    const ask = async (name: string): Promise<void> => {
      const found = await swap.source.fetch([block('a').cid], undefined)
      ends.push(`${name}: ${found.length} after ${swaps.time.nowMs() - began} ms`)
    }
    const began = swaps.time.nowMs()
    const first = ask('first')
    await swaps.time.advance(9000)
    const second = ask('second')
    await swaps.time.until(Promise.all([first, second]))
    expect(ends).toEqual(['first: 0 after 30000 ms', 'second: 0 after 39000 ms'])
    await swaps.time.settle()
    expect(swap.pending().fetching).toBe(0)
    expect(heard.at(-1)?.wants[0]?.cancel).toBe(true)
  })

  it('a caller asks anew for what another has waited for long: somebody has come who has it', async () => {
    const swaps = new Swaps()
    swaps.addScripted('mute', () => undefined)
    const { swap } = swaps.add('client', 'mute')
    const { cid, data } = block('a')
    const first = swap.source.fetch([cid], undefined)
    await swaps.time.advance(10_000)
    swaps.add('server', 'client').blocks.put(cid, data)
    const began = swaps.time.nowMs()
    const second = swap.source.fetch([cid], undefined)
    for (const found of await swaps.time.until(Promise.all([first, second]))) expect(found).toHaveLength(1)
    expect(swaps.time.nowMs() - began).toBeLessThanOrEqual(1000)
  })

  it('a fetcher without a signal is done with what nobody brings, and fetches it when somebody has it', async () => {
    const swaps = new Swaps()
    swaps.addScripted('mute', () => undefined)
    const { swap } = swaps.add('client', 'mute')
    const { cid, data } = block('a')
    const fetcher = new BlockFetcher(new MemoryBlockstore(), [swap.source])
    const first = fetcher.fetch([cid])
    first.catch(() => undefined)
    await swaps.time.advance(5000)
    // Another part of the node waits for the same.
    const other = swap.source.fetch([cid], undefined)
    await swaps.time.until(other)
    await expect(first).rejects.toThrow('could not find')
    swaps.add('server', 'client').blocks.put(cid, data)
    await swaps.time.until(fetcher.fetch([cid]))
  })

  it('finds what arrives at a peer a little later', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const { swap } = swaps.add('client', 'server')
    const { cid, data } = block('late')
    const fetching = swap.source.fetch([cid], undefined)
    await swaps.time.advance(200)
    server.blocks.put(cid, data)
    expect(await swaps.time.until(fetching)).toHaveLength(1)
  })

  it('waits no longer than among its own kind beside a peer that never says anything, as Venus does', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const asked: BitswapMessage[] = []
    swaps.addScripted('mute', (message) => void asked.push(message))
    const { swap } = swaps.add('client', 'server', 'mute')
    // Once it is given time.
    const first = swaps.time.nowMs()
    expect(await swaps.time.until(swap.source.fetch([block('nobody').cid], undefined))).toEqual([])
    expect(swaps.time.nowMs() - first).toBe(30_000)
    const began = swaps.time.nowMs()
    expect(await swaps.time.until(swap.source.fetch([block('nobody').cid], undefined))).toEqual([])
    expect(swaps.time.nowMs() - began).toBe(1250)
    const { cid, data } = block('late')
    const fetching = swap.source.fetch([cid], undefined)
    await swaps.time.advance(200)
    server.blocks.put(cid, data)
    const late = swaps.time.nowMs()
    expect(await swaps.time.until(fetching)).toHaveLength(1)
    expect(swaps.time.nowMs() - late).toBeLessThanOrEqual(250)
    // It is still asked: it may have come to speak.
    expect(asked.some(({ wants }) => wants.some((want) => want.cid.equals(cid) && !want.cancel))).toBe(true)
  })

  it('warns, once a minute, while nobody who is connected has ever answered', async () => {
    const swaps = new Swaps()
    swaps.addScripted('mute', () => undefined)
    const { swap } = swaps.add('client', 'mute')
    const ask = (): Promise<unknown> => swaps.time.until(swap.source.fetch([block('a').cid], undefined))
    await ask()
    expect(swaps.warnings).toEqual([])
    await ask()
    await ask()
    expect(swaps.warnings).toEqual(['nobody answers what is asked by bitswap'])
    await ask()
    expect(swaps.warnings).toHaveLength(2)
    swaps.add('server', 'client')
    await swaps.time.advance(60_000)
    await ask()
    expect(swaps.warnings).toHaveLength(2)
  })

  it('believes a peer that speaks after long silence', async () => {
    const swaps = new Swaps()
    swaps.add('server')
    const { cid, data } = block('only here')
    let speaks = false
    swaps.addScripted('shy', async ({ wants }, node) => {
      if (!speaks || !wants.some((want) => want.cid.equals(cid) && !want.cancel)) return
      await sendTo(node, 'client', {
        presences: [{ cid, has: true }],
        blocks: wants[0]?.type === 'block' ? [{ cid, data }] : [],
      })
    })
    const { swap } = swaps.add('client', 'server', 'shy')
    await swaps.time.until(swap.source.fetch([block('nobody').cid], undefined))
    speaks = true
    const began = swaps.time.nowMs()
    expect(await swaps.time.until(swap.source.fetch([cid], undefined))).toHaveLength(1)
    expect(swaps.time.nowMs()).toBe(began)
    // It is waited for again, as everybody is.
    speaks = false
    expect(await swaps.time.until(swap.source.fetch([block('nobody').cid], undefined))).toEqual([])
    expect(swaps.time.nowMs() - began).toBe(30_000)
  })

  it('goes on with others when a peer leaves', async () => {
    const swaps = new Swaps()
    swaps.addScripted('mute', () => undefined)
    const { swap } = swaps.add('client', 'mute')
    const cid = block('a').cid
    const fetching = swap.source.fetch([cid], undefined)
    await swaps.time.settle()
    const server = swaps.add('server', 'client')
    putBlock(server.blocks, utf8('a'))
    swaps.network.cut('client', 'mute')
    expect(await swaps.time.until(fetching)).toHaveLength(1)
  })

  it('speaks with a peer that reads one message a stream', async () => {
    const swaps = new Swaps()
    const stored = new MemoryBlockstore()
    swaps.addScripted('forest', async (message, node) => {
      for (const { cid, type, cancel } of message.wants) {
        const data = stored.get(cid)
        if (cancel || data === undefined) continue
        await sendTo(
          node,
          'client',
          type === 'block' ? { blocks: [{ cid, data }] } : { presences: [{ cid, has: true }] },
        )
      }
    })
    const { swap, reports } = swaps.add('client', 'forest')
    const cids = Array.from({ length: 20 }, (_, i) => putBlock(stored, utf8(`block ${i}`)))
    for (const cid of cids) {
      expect(await swaps.time.until(swap.source.fetch([cid], undefined))).toHaveLength(1)
      await swaps.time.advance(500)
    }
    expect(reports).toEqual([])
  })

  it('one block that many want is asked for once', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const { swap } = swaps.add('client', 'server')
    const cid = putBlock(server.blocks, utf8('popular'))
    const found = await Promise.all(Array.from({ length: 50 }, () => swap.source.fetch([cid, cid], undefined)))
    for (const one of found) expect(texts(one)).toEqual(['popular'])
  })

  it('can be given up, and cancels', async () => {
    const swaps = new Swaps()
    const heard: BitswapMessage[] = []
    swaps.addScripted('mute', (message) => void heard.push(message))
    const { swap } = swaps.add('client', 'mute')
    const control = new AbortController()
    const fetching = swap.source.fetch([block('a').cid], control.signal)
    await swaps.time.settle()
    control.abort(new Error('enough'))
    await expect(fetching).rejects.toThrow('enough')
    await swaps.time.settle()
    expect(heard.map((message) => message.wants[0]?.cancel)).toEqual([false, true])
    expect(swap.pending().fetching).toBe(0)
  })

  it('what was asked for and cancelled may still come, many times over: nothing is held against who brings it', async () => {
    const swaps = new Swaps()
    const wanted = Array.from({ length: 600 }, (_, i) => block(`late ${i}`))
    const asked = new Set<string>()
    const late = swaps.addScripted('late', async (message, node) => {
      for (const want of message.wants) asked.add(String(want.cid))
      // As boxo: who has not got it says so, and keeps the want in its ledger.
      const presences = message.wants.filter((want) => !want.cancel).map((want) => ({ cid: want.cid, has: false }))
      if (presences.length > 0) await sendTo(node, 'client', { presences })
    })
    const client = swaps.add('client', 'late')
    const control = new AbortController()
    for (let at = 0; at < wanted.length; at += FETCH_WINDOW) {
      const cids = wanted.slice(at, at + FETCH_WINDOW).map((one) => one.cid)
      client.swap.source.fetch(cids, control.signal).catch(() => undefined)
    }
    await swaps.time.settle()
    control.abort(new Error('it came by gossip'))
    await swaps.time.settle()
    const blocks = wanted.filter((one) => asked.has(String(one.cid)))
    expect(blocks.length).toBeGreaterThan(500)
    for (let i = 0; i < 3; i++) {
      for (let at = 0; at < blocks.length; at += 100)
        await sendTo(late, 'client', { blocks: blocks.slice(at, at + 100) })
      await swaps.time.advance(60_000)
    }
    expect(client.reports).toEqual([])
    await swaps.time.advance(600_000)
    await sendTo(late, 'client', { blocks })
    await swaps.time.settle()
    expect(client.reports).toMatchObject([{ what: { fault: 'UNASKED' } }])
    expect(client.links.peers()).toEqual(['late'])
  })

  it('cancels what a peer said that it has not: it would send it later', async () => {
    const swaps = new Swaps()
    const heard: BitswapMessage[] = []
    swaps.addScripted('without', async (message, node) => {
      heard.push(message)
      const presences = message.wants.filter((want) => !want.cancel).map((want) => ({ cid: want.cid, has: false }))
      if (presences.length > 0) await sendTo(node, 'client', { presences })
    })
    const { swap } = swaps.add('client', 'without')
    expect(await swaps.time.until(swap.source.fetch([block('nowhere').cid], undefined))).toEqual([])
    await swaps.time.settle()
    expect(heard.at(-1)?.wants.map((want) => want.cancel)).toEqual([true])
  })

  it('runs a function over blocks of another node', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const { swap, blocks } = swaps.add('client', 'server')
    // A chain of blocks, each naming the next.
    let next: Cid | undefined
    for (let i = 0; i < 100; i++) next = putBlock(server.blocks, next === undefined ? utf8('end') : next.bytes.slice())
    const first = next as Cid
    const running = withBlocks({ store: blocks, sources: [swap.source] }, (store) => {
      let count = 1
      for (let data = getBlock(store, first); data.length === 38; data = getBlock(store, cidFromBytes(data))) count++
      return count
    })
    expect(await swaps.time.until(running)).toBe(100)
  })
})
