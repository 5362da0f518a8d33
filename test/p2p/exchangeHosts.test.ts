/** Hello, chain exchange and bitswap between real libp2p hosts on loopback. */
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { utf8 } from '../../src/base/bytes.ts'
import type { Random } from '../../src/base/ports.ts'
import { type Cid, cidFromBytes } from '../../src/codec/cid.ts'
import { getBlock, MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { withBlocks } from '../../src/ipld/withBlocks.ts'
import { startBitswap } from '../../src/p2p/bitswap/bitswap.ts'
import { ExchangeClient } from '../../src/p2p/chainExchange/client.ts'
import { serveChainExchange } from '../../src/p2p/chainExchange/server.ts'
import { startHello } from '../../src/p2p/hello.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { headerCid } from '../../src/types/blockHeader.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'
import { connect, newHost, stopHosts, until } from './testHosts.ts'

const ports = { clock: systemClock, timers: systemTimers, log: silentLog }
const random: Random = { fill: (out) => void crypto.getRandomValues(out as Uint8Array<ArrayBuffer>) }
const missing = missingShared('data/golden/nv28/chain.car.zst')

afterEach(stopHosts)

/** Refuses to be blamed: a test of honest hosts fails when one reports the other. */
function watched(host: P2pHost): string[] {
  const reports: string[] = []
  const report = host.links.report.bind(host.links)
  host.links.report = (peer, what) => {
    reports.push(what.reason)
    report(peer, what)
  }
  return reports
}

describe.skipIf(missing !== undefined)('protocols over real hosts', () => {
  it('hello, then the whole chain with its messages, then state block by block', async () => {
    const { view } = openRecordedView('nv28')
    const { store } = view
    const hosts = [await newHost(), await newHost({ listen: [] })] as const
    const [server, client] = hosts
    const reports = hosts.map(watched)
    const heard: number[] = []
    const chain = {
      head: () => store.head(),
      weight: () => view.weight(store.head()),
      genesisCid: headerCid(firstBlock(store.genesis())),
    }
    for (const { links } of hosts) startHello({ ...ports, links, chain, onHead: (_, __, height) => heard.push(height) })
    const served = serveChainExchange({ ...ports, links: server.links, chain: store })
    const swaps = hosts.map(({ links }) =>
      startBitswap({ ...ports, links, blocks: links === server.links ? store.blocks : new MemoryBlockstore() }),
    )
    for (const host of hosts) await host.start()
    await connect(client, server)
    await until(() => heard.length === 2, 'both say hello')
    expect(heard).toEqual([store.head().height, store.head().height])

    const exchange = new ExchangeClient({ ...ports, random, links: client.links })
    let began = performance.now()
    const { tipsets } = await exchange.fetch({ head: store.head().key, length: 900, messages: true }, {})
    expect(tipsets[tipsets.length - 1]?.tipset.height).toBe(0)
    console.log(`${tipsets.length} tipsets with messages in ${Math.round(performance.now() - began)} ms`)

    // Reading state of the head's parent: each missing block is one question.
    const fetched = new MemoryBlockstore()
    const source = swaps[1]?.source
    if (source === undefined) throw new Error('no bitswap')
    began = performance.now()
    const root = firstBlock(store.head()).parentStateRoot
    let blocks = 0
    const walked = new Set<string>()
    const todo = [root]
    for (let cid = todo.pop(); cid !== undefined && blocks < 500; cid = todo.pop()) {
      const at: Cid = cid
      if (walked.has(at.key) || store.blocks.get(at) === undefined) continue
      walked.add(at.key)
      const data = await withBlocks({ store: fetched, sources: [source] }, (layer) => getBlock(layer, at))
      expect(data).toEqual(store.blocks.get(at))
      blocks++
      todo.push(...links(data))
    }
    const took = performance.now() - began
    console.log(`${blocks} blocks one after the other in ${Math.round(took)} ms, ${(took / blocks).toFixed(2)} ms each`)
    expect(blocks).toBeGreaterThan(100)
    expect(reports).toEqual([[], []])
    served.stop()
    for (const swap of swaps) swap.stop()
  })

  it('thousands of blocks one after the other, from the first second on, are no flood', async () => {
    const hosts = [await newHost(), await newHost({ listen: [] })] as const
    const [server, client] = hosts
    const reports = hosts.map(watched)
    const stored = new MemoryBlockstore()
    const [, swap] = hosts.map(({ links }, i) =>
      startBitswap({ ...ports, links, blocks: i === 0 ? stored : new MemoryBlockstore() }),
    )
    for (const host of hosts) {
      host.links.handle('/fil/hello/1.0.0', () => Promise.resolve())
      await host.start()
    }
    await connect(client, server)
    const cids = Array.from({ length: 3000 }, (_, i) => putBlock(stored, utf8(`block ${i} ${'x'.repeat(i % 700)}`)))
    const began = performance.now()
    for (const cid of cids) expect(await swap?.source.fetch([cid], undefined)).toHaveLength(1)
    const took = performance.now() - began
    const all = performance.now()
    stored.put(cids[0] as Cid, utf8(`block 0 `))
    expect(await swap?.source.fetch(cids, undefined)).toHaveLength(3000)
    console.log(
      `3000 blocks one by one: ${Math.round(took)} ms, ${(took / 3000).toFixed(2)} ms each; at once: ${Math.round(performance.now() - all)} ms`,
    )
    expect(reports).toEqual([[], []])
  })
})

/** CIDs that a block names, found by their first bytes. */
function links(data: Uint8Array): Cid[] {
  const out: Cid[] = []
  for (let i = 0; i + 43 <= data.length; i++) {
    if (data[i] === 0xd8 && data[i + 1] === 0x2a && data[i + 2] === 0x58 && data[i + 3] === 0x27 && data[i + 5] === 1) {
      if (data[i + 6] === 0x71) out.push(cidFromBytes(data.slice(i + 5, i + 43)))
    }
  }
  return out
}
