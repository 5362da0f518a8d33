/** What Bitswap serves to peers. */
import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { putBlock } from '../../src/ipld/blockstore.ts'
import {
  MAX_REMEMBERED_OF_ALL,
  MAX_REMEMBERED_WANTS,
  MIN_REMEMBERED_WANTS,
  REMEMBERED_MS,
  SMALL_BLOCK_BYTES,
} from '../../src/p2p/bitswap/limits.ts'
import type { BitswapMessage, Want } from '../../src/p2p/bitswap/messages.ts'
import { block, Swaps, sendTo } from './swaps.ts'

describe('bitswap', () => {
  it('serves wants as the specification says', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const small = putBlock(server.blocks, utf8('small'))
    const large = putBlock(server.blocks, new Uint8Array(5000))
    const missing = block('missing').cid
    const heard: BitswapMessage[] = []
    const asker = swaps.addScripted('asker', (message) => void heard.push(message))
    swaps.network.connect('asker', 'server')
    const want = { cancel: false, sendDontHave: true }
    const wants = [
      { ...want, cid: small, type: 'have' as const },
      { ...want, cid: large, type: 'have' as const },
      { ...want, cid: missing, type: 'block' as const },
      { ...want, cid: block('other').cid, type: 'have' as const, sendDontHave: false },
    ]
    await sendTo(asker, 'server', { wants })
    await swaps.time.settle()
    expect(heard).toHaveLength(1)
    expect(heard[0]?.blocks.map((one) => String(one.cid))).toEqual([String(small)])
    expect(heard[0]?.presences.map((one) => [String(one.cid), one.has])).toEqual([
      [String(large), true],
      [String(missing), false],
    ])
  })

  it('serves every want of a list as long as boxo makes them', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const names = Array.from({ length: 10_000 }, (_, i) => putBlock(server.blocks, utf8(`message ${i}`)))
    const got = new Set<string>()
    const asker = swaps.addScripted('asker', ({ blocks }) => {
      for (const one of blocks) got.add(one.cid.key)
    })
    swaps.network.connect('asker', 'server')
    const want = { type: 'block' as const, cancel: false, sendDontHave: true }
    await sendTo(asker, 'server', { wants: names.map((cid) => ({ ...want, cid })) })
    await swaps.time.advance(5000)
    expect(got.size).toBe(names.length)
  })

  it('sends what was not there when it comes, without being asked again', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const heard: BitswapMessage[] = []
    const asker = swaps.addScripted('asker', (message) => void heard.push(message))
    swaps.network.connect('asker', 'server')
    const named = ['wanted', 'cancelled', 'never', 'large'].map(block)
    const [wanted, cancelled, , large] = named.map(({ cid }) => cid) as [Cid, Cid, Cid, Cid]
    const want = { type: 'block' as const, cancel: false, sendDontHave: true }
    const wants: Want[] = named.map(({ cid }) => ({ ...want, cid, type: cid === large ? 'have' : 'block' }))
    await sendTo(asker, 'server', { wants })
    await sendTo(asker, 'server', { wants: [{ ...want, cid: cancelled, cancel: true }] })
    await swaps.time.settle()
    expect(heard.flatMap(({ presences }) => presences.map(({ has }) => has))).toEqual([false, false, false, false])
    heard.length = 0
    for (const { cid, data } of named.slice(0, 2)) server.blocks.put(cid, data)
    server.blocks.put(large, new Uint8Array(SMALL_BLOCK_BYTES + 1))
    server.swap.arrived(() => [wanted, cancelled, large])
    await swaps.time.settle()
    expect(heard.flatMap(({ blocks }) => blocks.map(({ cid }) => String(cid)))).toEqual([String(wanted)])
    expect(heard.flatMap(({ presences }) => presences)).toMatchObject([{ has: true }])
    // Once.
    heard.length = 0
    server.swap.arrived(() => [wanted, cancelled, large])
    await swaps.time.settle()
    expect(heard).toEqual([])
  })

  it('sends what an execution has made, and goes on waiting for the rest', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const heard: BitswapMessage[] = []
    const asker = swaps.addScripted('asker', (message) => void heard.push(message))
    swaps.network.connect('asker', 'server')
    const [made, later] = ['made', 'later'].map(block) as [ReturnType<typeof block>, ReturnType<typeof block>]
    const want = { type: 'block' as const, cancel: false, sendDontHave: true }
    await sendTo(asker, 'server', { wants: [made, later].map(({ cid }) => ({ ...want, cid })) })
    await swaps.time.settle()
    for (const { cid, data } of [made, later]) {
      heard.length = 0
      server.blocks.put(cid, data)
      server.swap.executed()
      await swaps.time.settle()
      expect(heard.flatMap(({ blocks }) => blocks.map((sent) => String(sent.cid)))).toEqual([String(cid)])
    }
    heard.length = 0
    server.swap.executed()
    await swaps.time.settle()
    expect(heard).toEqual([])
  })

  it('remembers wants for so long, so many of a peer and of all', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const got = new Map<string, number>()
    const peers = MAX_REMEMBERED_OF_ALL / MAX_REMEMBERED_WANTS
    const named = Array.from({ length: MAX_REMEMBERED_WANTS + 1 }, (_, i) => block(`message ${i}`))
    const wants = named.map(({ cid }): Want => ({ cid, type: 'block', cancel: false, sendDontHave: false }))
    for (let i = 0; i <= peers; i++) {
      const name = `asker ${i}`
      const asker = swaps.addScripted(name, ({ blocks }) => {
        got.set(name, (got.get(name) ?? 0) + blocks.length)
      })
      swaps.network.connect(name, 'server')
      await sendTo(asker, 'server', { wants })
      await swaps.time.settle()
    }
    const come = async (): Promise<void> => {
      for (const { cid, data } of named) server.blocks.put(cid, data)
      server.swap.arrived(() => named.map(({ cid }) => cid))
      await swaps.time.advance(1000)
    }
    await swaps.time.advance(REMEMBERED_MS)
    await come()
    expect([...got.values()]).toEqual([
      ...Array.from({ length: peers }, () => MAX_REMEMBERED_WANTS),
      MIN_REMEMBERED_WANTS,
    ])
    // Nobody waits any more, and after the time nobody does either.
    const asker = swaps.addScripted('late', () => void got.set('late', 1))
    swaps.network.connect('late', 'server')
    const { cid, data } = block('another')
    await sendTo(asker, 'server', { wants: [{ cid, type: 'block', cancel: false, sendDontHave: false }] })
    await swaps.time.advance(REMEMBERED_MS + 1)
    server.blocks.put(cid, data)
    server.swap.arrived(() => [cid])
    await swaps.time.settle()
    expect(got.has('late')).toBe(false)
  })
})
