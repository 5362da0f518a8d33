/** The exchange of finality certificates against what a Lotus node answered. */
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { finish } from '../../src/base/steps.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { CertClient } from '../../src/p2p/certExchange/client.ts'
import { certExchangeProtocol, certRequest } from '../../src/p2p/certExchange/messages.ts'
import { serveCertExchange } from '../../src/p2p/certExchange/server.ts'
import { MemoryNetwork, type MemoryNode } from '../support/memoryNetwork.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { certRows, certsMissing, recordedSource } from './recordedCertificates.ts'
import { readAll } from './streams.ts'

const NETWORK = 'golden-f3'
const PROTOCOL = certExchangeProtocol(NETWORK)
const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const never = new AbortController().signal

function addServer(network: MemoryNetwork, time: VirtualTime, source = recordedSource()): MemoryNode {
  const node = network.addNode('server')
  const deps = { links: node.links, clock: time, timers: time, log: silentLog, f3Network: NETWORK }
  serveCertExchange({ ...deps, certificates: source })
  return node
}

function addClient(network: MemoryNetwork, time: VirtualTime): MemoryNode & { client: CertClient } {
  const node = network.addNode('client')
  const client = new CertClient({ links: node.links, clock: time, timers: time, f3Network: NETWORK })
  return Object.assign(node, { client })
}

describe.skipIf(certsMissing !== undefined)('certificate exchange', () => {
  it('has all the recorded requests, coded to the same bytes', () => {
    expect(certRows).toHaveLength(5)
    for (const row of certRows) {
      expect(row.protocol).toBe(PROTOCOL)
      expect(toHex(encode(certRequest, decode(certRequest, fromHex(row.request))))).toBe(row.request)
    }
  })

  it.each(certRows.map((row) => [row.request, row] as const))('%s: the bytes that Lotus answered', async (_, row) => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const server = addServer(network, time)
    const client = network.addNode('client')
    network.connect('server', 'client')
    const stream = await client.links.open('server', [PROTOCOL], never)
    await stream.write(fromHex(row.request))
    await stream.closeWrite()
    expect(toHex(await readAll(stream))).toBe(row.response)
    await time.advance(3000)
    expect(server.openStreams).toBe(0)
    expect(time.pending).toBe(0)
  })

  it('fetches certificates and tables', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const source = recordedSource()
    addServer(network, time, source)
    const { client, reports } = addClient(network, time)
    network.connect('server', 'client')
    expect(client.peers()).toEqual(['server'])
    const all = await client.request('server', { firstInstance: 0, limit: 256, includePowerTable: true })
    expect(all.certificates.map((one) => toHex(one.cbor))).toEqual(source.certificates.map((one) => toHex(one)))
    expect(all.powerTable).toEqual(finish(source.findPowerTable(0)))
    const three = await client.request('server', { firstInstance: 28, limit: 3, includePowerTable: true })
    expect(three.certificates.map((one) => one.certificate.instance)).toEqual([28, 29, 30])
    expect(three.powerTable).toEqual(finish(source.findPowerTable(28)))
    const none = await client.request('server', { firstInstance: 5, limit: 0, includePowerTable: false })
    expect(none).toEqual({ pendingInstance: source.certificates.length, powerTable: [], certificates: [] })
    await time.advance(5000)
    expect(reports).toEqual([])
    expect(time.pending).toBe(0)
  })

  async function askLiar(
    answer: Uint8Array[],
  ): Promise<{ node: MemoryNode; result: Promise<number[]>; time: VirtualTime }> {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const liar = network.addNode('liar')
    liar.links.handle(PROTOCOL, async (_, stream) => {
      await readAll(stream)
      for (const part of answer) await stream.write(part)
      await stream.closeWrite()
    })
    const node = addClient(network, time)
    network.connect('liar', 'client')
    const result = node.client
      .request('liar', { firstInstance: 0, limit: 10, includePowerTable: false })
      .then((got) => got.certificates.map((one) => one.certificate.instance))
    result.catch(() => undefined)
    await time.settle()
    return { node, result, time }
  }

  it('keeps what came before the first certificate out of order, and reports', async () => {
    const { certificates } = recordedSource()
    const parts = [fromHex('82187c80'), ...[0, 1, 3].map((i) => certificates[i] as Uint8Array)]
    const { node, result } = await askLiar(parts)
    expect(await result).toEqual([0, 1])
    expect(node.reports).toMatchObject([
      { peer: 'liar', what: { fault: expect.stringMatching(/GARBAGE|OVERSIZED/) as unknown } },
    ])
  })

  it.each([
    ['garbage', [fromHex('82187cff')]],
    ['a header of the wrong form', [fromHex('83010203')]],
    ['a table that nobody asked for', [fromHex('82187c98c8'), new Uint8Array(200)]],
    ['a certificate that says it is huge', [fromHex('82187c80'), fromHex('86005affffffff')]],
    ['a certificate that is none', [fromHex('82187c80'), fromHex('8100')]],
  ])('%s: refused, banned', async (_, parts) => {
    const { node, result } = await askLiar(parts)
    await expect(result).rejects.toMatchObject({ code: expect.any(String) as string })
    expect(node.reports).toMatchObject([
      { peer: 'liar', what: { fault: expect.stringMatching(/GARBAGE|OVERSIZED/) as unknown } },
    ])
  })

  it('an answer cut short is an error, no lie', async () => {
    const { node, result } = await askLiar([fromHex('8218')])
    await expect(result).rejects.toMatchObject({ code: 'ENDED_EARLY' })
    expect(node.reports).toMatchObject([{ peer: 'liar', what: { fault: 'CUT_OFF' } }])
    expect(node.links.peers()).toEqual(['liar'])
  })

  it('a flood of requests is cut off', async () => {
    const time = new VirtualTime()
    const network = new MemoryNetwork(time)
    const server = addServer(network, time)
    const { client } = addClient(network, time)
    network.connect('server', 'client')
    let refused = 0
    for (let i = 0; i < 100; i++) {
      await client.request('server', { firstInstance: 0, limit: 1, includePowerTable: false }).catch(() => refused++)
    }
    expect(refused).toBe(36)
    expect(server.reports).toHaveLength(36)
    await time.advance(5000)
    expect(server.openStreams).toBe(0)
  })
})
