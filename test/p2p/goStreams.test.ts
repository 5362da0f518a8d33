/** Every protocol that a handler serves, asked with the bytes of go-libp2p: message and end come with the negotiation. */
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { fromHex, toHex, utf8 } from '../../src/base/bytes.ts'
import { decode } from '../../src/codec/description.ts'
import { MemoryBlockstore, putBlock } from '../../src/ipld/blockstore.ts'
import { startBitswap } from '../../src/p2p/bitswap/bitswap.ts'
import { BITSWAP_PROTOCOLS, decodeMessage } from '../../src/p2p/bitswap/messages.ts'
import { serveCertExchange } from '../../src/p2p/certExchange/server.ts'
import { CHAIN_EXCHANGE_PROTOCOL } from '../../src/p2p/chainExchange/messages.ts'
import { serveChainExchange } from '../../src/p2p/chainExchange/server.ts'
import { StreamReader } from '../../src/p2p/framing/streamReader.ts'
import { HELLO_PROTOCOL, startHello } from '../../src/p2p/hello.ts'
import { helloMessage, latencyMessage } from '../../src/p2p/helloMessage.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { askAsGo, type Pieces } from './goStreams.ts'
import { type CertRow, certRows, certsMissing, recordedSource } from './recordedCertificates.ts'
import { connect, newHost, stopHosts } from './testHosts.ts'
import { type WireRow, wireMissing, wireRows } from './wire.ts'

const ports = { clock: systemClock, timers: systemTimers, log: silentLog }
const missing = wireMissing ?? certsMissing

afterEach(stopHosts)

/** When the message, and its end, reach the server. */
type Arrival = Pieces | 'before the handler'

const ARRIVALS: Arrival[] = ['together', 'bytes', 'negotiated', 'before the handler']

interface Ends {
  readonly server: P2pHost
  /** Speaks only where a test has it speak. */
  readonly client: P2pHost
  /** What the server said against the client. */
  readonly reports: string[]
}

async function ends(serve: (server: P2pHost) => void): Promise<Ends> {
  const server = await newHost()
  const client = await newHost({ listen: [] })
  const reports: string[] = []
  server.links.report = (_peer, { reason }) => void reports.push(reason)
  serve(server)
  for (const host of [server, client]) await host.start()
  return { server, client, reports }
}

/** Says the message as go-libp2p would, at the time that is named. */
async function ask({ server, client }: Ends, protocol: string, message: Uint8Array, at: Arrival): Promise<string> {
  if (at === 'together' || at === 'bytes') {
    return toHex(await askAsGo(client, server.id, protocol, message, at))
  }
  // What libp2p does between the negotiation and the handler, a note in its peer store, is made to last.
  const { peerStore } = server.parts.node
  const merge = peerStore.merge.bind(peerStore)
  let negotiated: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    negotiated = resolve
  })
  peerStore.merge = async (...noted) => {
    const streams = server.parts.node.getConnections().flatMap((connection) => connection.streams)
    const asked = streams.find((stream) => stream.direction === 'inbound' && stream.protocol === protocol)
    if (asked !== undefined) {
      peerStore.merge = merge
      negotiated()
      if (at === 'before the handler' && asked.remoteWriteStatus !== 'closed') {
        await new Promise((resolve) => asked.addEventListener('remoteCloseWrite', resolve, { once: true }))
      }
    }
    return merge(...noted)
  }
  return toHex(await askAsGo(client, server.id, protocol, message, 'negotiated', held))
}

describe.skipIf(missing !== undefined).each(ARRIVALS)('message and end: %s', (at) => {
  it('hello', async () => {
    const { view } = openRecordedView('wire')
    const row = wireRows(HELLO_PROTOCOL).find(({ answer }) => answer !== undefined) as WireRow
    const message = fromHex(row.message as string)
    const { genesisHash, heaviestTipSet, heaviestTipSetHeight } = decode(helloMessage, message)
    const heard: string[] = []
    const both = await ends(({ links }) => {
      const chain = { head: () => view.store.head(), weight: () => 1n, genesisCid: genesisHash }
      startHello({ ...ports, links, chain, onHead: (_, key, height) => heard.push(`${height} ${key.join()}`) })
    })
    await connect(both.client, both.server)
    const answer = decode(latencyMessage, fromHex(await ask(both, HELLO_PROTOCOL, message, at)))
    expect(Math.abs(Number(answer.tArrival / 1_000_000n) - Date.now())).toBeLessThan(10_000)
    expect(heard).toEqual([`${heaviestTipSetHeight} ${heaviestTipSet.join()}`])
    expect(both.reports).toEqual([])
    expect(both.server.links.peers()).toEqual([both.client.id])
  })

  it('chain exchange', async () => {
    const { store } = openRecordedView('wire').view
    const rows = wireRows(CHAIN_EXCHANGE_PROTOCOL)
    const row = rows.find(({ note }) => note === 'headers and messages, 30') as WireRow
    const both = await ends(({ links }) => void serveChainExchange({ ...ports, links, chain: store }))
    await connect(both.client, both.server)
    const answer = await ask(both, CHAIN_EXCHANGE_PROTOCOL, fromHex(row.request as string), at)
    expect(answer).toBe(row.response)
    expect(both.reports).toEqual([])
  })

  it('certificate exchange', async () => {
    const row = certRows[0] as CertRow
    const f3Network = row.protocol.slice('/f3/certexch/get/1/'.length)
    const certificates = recordedSource()
    const both = await ends(({ links }) => void serveCertExchange({ ...ports, links, f3Network, certificates }))
    await connect(both.client, both.server)
    expect(await ask(both, row.protocol, fromHex(row.request), at)).toBe(row.response)
    expect(both.reports).toEqual([])
  })

  it.each(BITSWAP_PROTOCOLS)('bitswap, %s', async (protocol) => {
    const blocks = new MemoryBlockstore()
    const cid = putBlock(blocks, utf8('a block'))
    const both = await ends(({ links }) => void startBitswap({ ...ports, links, blocks }))
    const came = new Promise<Uint8Array>((resolve, reject) => {
      both.client.links.handle(protocol, async (_, stream) => {
        const reader = new StreamReader(stream, 10_000)
        await reader.varint().then((length) => reader.bytes(length).then(resolve, reject), reject)
      })
    })
    await connect(both.client, both.server)
    // Wantlist (1) { Entry (1) { block (1), priority (2) 1, wantType (4) Block } }, behind its length.
    const want = fromHex(`2e0a2c0a2a0a26${toHex(cid.bytes)}1001`)
    await ask(both, protocol, want, at)
    const message = decodeMessage(await came)
    const data = [...message.blocks.map((block) => block.data), ...message.bareBlocks]
    expect(data.map(toHex)).toEqual([toHex(utf8('a block'))])
    expect(both.reports).toEqual([])
  })
})
