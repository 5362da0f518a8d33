/** Bounds of what bitswap asks of peers, and of what it bears that it did not ask for: each at the bound and one above. */
import { describe, expect, it } from 'vitest'
import { type Cid, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import {
  ASK_AGAIN_MS,
  FETCH_WINDOW,
  HAVE_FANOUT,
  MAX_HEDGE_MS,
  MAX_WANTS,
  MIN_HEDGE_MS,
  RETRY_MS,
  UNASKED_BUDGET,
  UNASKED_PAUSE_MS,
  WANT_MS,
} from '../../src/p2p/bitswap/limits.ts'
import { type BitswapMessage, encodeMessage, type Want } from '../../src/p2p/bitswap/messages.ts'
import { Swarm } from '../../src/p2p/bitswap/swarm.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { block, NEWEST, never, Swaps, sendTo } from './swaps.ts'

const nothing: BitswapMessage = { wants: [], blocks: [], presences: [] }

/** A CID that no block has. */
function cidOf(i: number): Cid {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, i)
  return createCid(0x71, HASH_BLAKE2B_256, digest)
}

const cidsOf = (from: number, count: number): Cid[] => Array.from({ length: count }, (_, i) => cidOf(from + i))

function wantsOf(cids: readonly Cid[], type: Want['type'] = 'block'): Want[] {
  return cids.map((cid) => ({ cid, type, cancel: false, sendDontHave: true }))
}

describe('blocks that nobody asked for', () => {
  it('are borne up to the budget; then what the peer sends on waits', async () => {
    for (const [count, ms] of [
      [UNASKED_BUDGET.capacity, 0],
      [UNASKED_BUDGET.capacity + 1, UNASKED_PAUSE_MS],
    ] as const) {
      const swaps = new Swaps()
      const client = swaps.add('client')
      let answered = -1
      const began = swaps.time.nowMs()
      const peer = swaps.addScripted('peer', () => {
        if (answered < 0) answered = swaps.time.nowMs() - began
      })
      swaps.network.connect('peer', 'client')
      const stream = await peer.links.open('client', [NEWEST], never)
      const blocks = Array.from({ length: count }, (_, i) => block(`unasked ${i}`))
      await stream.write(encodeMessage({ ...nothing, blocks }, NEWEST))
      await stream.write(encodeMessage({ ...nothing, wants: wantsOf([cidOf(1)]) }, NEWEST))
      await swaps.time.advance(UNASKED_PAUSE_MS * 2)
      expect(answered).toBe(ms)
      expect(client.reports).toHaveLength(ms === 0 ? 0 : 1)
    }
  })

  it.each([
    [1000 / UNASKED_BUDGET.perSecond - 1, 1],
    [1000 / UNASKED_BUDGET.perSecond, 0],
  ])('are borne so many a second: %s ms after the last one too many are %s', async (ms, tooMany) => {
    const swaps = new Swaps()
    const client = swaps.add('client')
    const peer = swaps.network.addNode('peer')
    swaps.network.connect('peer', 'client')
    let sent = 0
    const send = async (count: number): Promise<void> => {
      const blocks = Array.from({ length: count }, () => block(`unasked ${sent++}`))
      await sendTo(peer, 'client', { blocks })
      await swaps.time.settle()
    }
    await send(UNASKED_BUDGET.capacity)
    expect(client.reports).toEqual([])
    await swaps.time.advance(ms)
    await send(1)
    expect(client.reports).toHaveLength(tooMany)
    await send(1)
    expect(client.reports).toHaveLength(tooMany + 1)
  })
})

describe('what is asked of peers', () => {
  /** A client of peers that say nothing; what they hear, with the time. */
  function mute(peers: number) {
    const swaps = new Swaps()
    const began = swaps.time.nowMs()
    const heard: { ms: number; type: string; peer: string }[] = []
    const names = Array.from({ length: peers }, (_, i) => `mute ${i}`)
    for (const peer of names)
      swaps.addScripted(peer, ({ wants }) => {
        for (const { cancel, type } of wants) if (!cancel) heard.push({ ms: swaps.time.nowMs() - began, type, peer })
      })
    return { swaps, began, heard, client: swaps.add('client', ...names) }
  }

  it('one window of blocks at once', async () => {
    const { swaps, client } = mute(1)
    void client.swap.source.fetch(cidsOf(0, FETCH_WINDOW), undefined)
    await swaps.time.settle()
    expect(client.swap.pending().fetching).toBe(FETCH_WINDOW)
    const more = mute(1)
    void more.client.swap.source.fetch(cidsOf(0, FETCH_WINDOW + 1), undefined)
    await more.swaps.time.settle()
    expect(more.client.swap.pending().fetching).toBe(FETCH_WINDOW)
    await more.swaps.time.advance(WANT_MS)
    expect(more.client.swap.pending().fetching).toBe(1)
  })

  it('so many by all who ask; one more is refused', async () => {
    const { client } = mute(1)
    const windows = MAX_WANTS / FETCH_WINDOW
    for (let i = 0; i < windows; i++) {
      client.swap.source.fetch(cidsOf(i * FETCH_WINDOW, FETCH_WINDOW), undefined).catch(() => undefined)
    }
    expect(client.swap.pending().fetching).toBe(MAX_WANTS)
    await expect(client.swap.source.fetch([cidOf(MAX_WANTS)], undefined)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })

  it('again after a while; and given up at the end', async () => {
    const { swaps, client, heard } = mute(1)
    let over = false
    void client.swap.source.fetch([cidOf(1)], undefined).then(() => {
      over = true
    })
    await swaps.time.advance(WANT_MS - 1)
    expect(heard.map(({ ms }) => ms)).toEqual([0, ...ASK_AGAIN_MS])
    expect(over).toBe(false)
    await swaps.time.advance(1)
    expect(over).toBe(true)
  })

  it('so many others whether they have it, when the first says nothing', async () => {
    const { swaps, client, heard } = mute(HAVE_FANOUT + 2)
    void client.swap.source.fetch([cidOf(1)], undefined)
    await swaps.time.advance(MAX_HEDGE_MS - 1)
    expect(heard.map(({ type }) => type)).toEqual(['block'])
    await swaps.time.advance(1)
    expect(heard.filter(({ type }) => type === 'have')).toHaveLength(HAVE_FANOUT)
  })

  it('twice as many others each time they say nothing, until all are asked', async () => {
    const silent = 40
    const { swaps, client, heard } = mute(silent)
    void client.swap.source.fetch([cidOf(1)], undefined)
    const asked = (): number => heard.filter(({ type }) => type === 'have').length
    const sums: number[] = []
    for (let i = 0; i < 4; i++) {
      await swaps.time.advance(MAX_HEDGE_MS)
      sums.push(asked())
    }
    expect(sums).toEqual([HAVE_FANOUT, 3 * HAVE_FANOUT, silent - 1, silent - 1])
  })

  it('everybody again where nobody has it, so many times', async () => {
    const swaps = new Swaps()
    const server = swaps.add('server')
    const { swap } = swaps.add('client', 'server')
    const began = swaps.time.nowMs()
    expect(await swaps.time.until(swap.source.fetch([blockCid(Uint8Array.of(9))], undefined))).toEqual([])
    expect(swaps.time.nowMs() - began).toBe(RETRY_MS.reduce((sum, ms) => sum + ms, 0))
    expect(server.reports).toEqual([])
  })

  it('others after three times the usual time, within bounds', async () => {
    for (const [usualMs, hedgeMs] of [
      [MIN_HEDGE_MS / 3 - 1, MIN_HEDGE_MS],
      [MIN_HEDGE_MS / 3, MIN_HEDGE_MS],
      [MIN_HEDGE_MS / 3 + 1, MIN_HEDGE_MS + 3],
      [Math.floor(MAX_HEDGE_MS / 3), 3 * Math.floor(MAX_HEDGE_MS / 3)],
      [Math.ceil(MAX_HEDGE_MS / 3), MAX_HEDGE_MS],
    ] as const) {
      const time = new VirtualTime()
      const swarm = new Swarm(time)
      expect(swarm.hedgeMs('peer')).toBe(MAX_HEDGE_MS)
      swarm.asks('peer', 'cid')
      await time.advance(usualMs)
      swarm.brought('peer', 'cid', true)
      expect(swarm.hedgeMs('peer')).toBe(hedgeMs)
    }
  })
})
