/** What Bitswap serves to peers. */
import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import { putBlock } from '../../src/ipld/blockstore.ts'
import type { BitswapMessage } from '../../src/p2p/bitswap/messages.ts'
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
})
