/** Following finality: who is asked, how often, and what becomes of liars. */
import { describe, expect, it } from 'vitest'
import type { FinalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { F3Error } from '../../src/consensus/f3/errors.ts'
import { type PowerTable, powerTableCid } from '../../src/consensus/f3/powerTable.ts'
import { CertClient } from '../../src/p2p/certExchange/client.ts'
import { type CertificateSink, startCertPoller } from '../../src/p2p/certExchange/poller.ts'
import { PollInterval } from '../../src/p2p/certExchange/pollInterval.ts'
import { serveCertExchange } from '../../src/p2p/certExchange/server.ts'
import { MemoryNetwork, type MemoryNode } from '../support/memoryNetwork.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { certsMissing, recordedSource } from './recordedCertificates.ts'

const NETWORK = 'golden-f3'
const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Keeps instances in order; holds one for false. */
class Sink implements CertificateSink {
  isRunning = true
  imported: FinalityCertificate[] = []
  falseInstance = Number.NaN
  table: PowerTable | undefined
  manifest: CertificateSink['manifest'] = {
    initialInstance: 0,
    initialPowerTable: null,
    minimumPollMs: 30_000,
    maximumPollMs: 120_000,
  }

  start(): boolean {
    return this.isRunning
  }

  startFrom(table: PowerTable): void {
    if (String(powerTableCid(table)) !== String(this.manifest.initialPowerTable)) {
      throw new F3Error('POWER_TABLE_WRONG', 'another table')
    }
    this.table = table
    this.isRunning = true
  }

  pendingInstance(): number {
    return this.imported.length
  }

  importCertificates(certificates: Iterable<FinalityCertificate>): number {
    let added = 0
    for (const certificate of certificates) {
      expect(certificate.instance).toBe(this.imported.length)
      if (certificate.instance === this.falseInstance) throw new F3Error('SIGNATURE_INVALID', 'invalid signature')
      this.imported.push(certificate)
      added++
    }
    return added
  }
}

class Finality {
  readonly time = new VirtualTime()
  readonly network = new MemoryNetwork(this.time)
  readonly source: ReturnType<typeof recordedSource> = recordedSource()

  /** A server that knows the certificates below `known()`. */
  addServer(name: string, known: () => number): MemoryNode & { asked: number } {
    const node = Object.assign(this.network.addNode(name), { asked: 0 })
    const certificates = {
      ...this.source,
      pendingInstance: () => {
        node.asked++
        return known()
      },
    }
    serveCertExchange({
      links: node.links,
      clock: this.time,
      timers: this.time,
      log: silentLog,
      f3Network: NETWORK,
      certificates,
    })
    return node
  }

  follow(sink: Sink): MemoryNode & { stop(): void } {
    const node = this.network.addNode('follower')
    const { time } = this
    const client = new CertClient({ links: node.links, clock: time, timers: time, f3Network: NETWORK })
    const { stop } = startCertPoller({ client, f3: sink, links: node.links, timers: time, log: silentLog })
    return Object.assign(node, { stop })
  }
}

describe.skipIf(certsMissing !== undefined)('following finality', () => {
  it('catches up at once when a peer comes, then keeps up', async () => {
    const finality = new Finality()
    let known = 100
    const server = finality.addServer('server', () => known)
    const sink = new Sink()
    const follower = finality.follow(sink)
    await finality.time.advance(500)
    finality.network.connect('follower', 'server')
    await finality.time.advance(2000)
    expect(sink.imported).toHaveLength(100)
    // A certificate every 50 s: never far behind, and not asked for much more often.
    server.asked = 0
    for (; known < 120; known++) {
      await finality.time.advance(50_000)
      expect(sink.imported.length).toBeGreaterThanOrEqual(known - 5)
    }
    expect(server.asked).toBeLessThan(100)
    follower.stop()
    await finality.time.advance(1000)
    expect(follower.reports).toEqual([])
    expect(finality.time.pending).toBe(0)
  })

  it('bans who sends a false certificate, and goes on with another', async () => {
    const finality = new Finality()
    finality.addServer('liar', () => 50)
    const sink = new Sink()
    sink.falseInstance = 20
    const follower = finality.follow(sink)
    finality.network.connect('follower', 'liar')
    await finality.time.advance(3000)
    expect(sink.imported).toHaveLength(20)
    expect(follower.reports).toMatchObject([{ peer: 'liar', what: { proven: true } }])
    expect(follower.links.peers()).toEqual([])
    sink.falseInstance = Number.NaN
    finality.addServer('honest', () => 60)
    finality.network.connect('follower', 'honest')
    await finality.time.advance(300_000)
    expect(sink.imported).toHaveLength(60)
  })

  it('takes the first power table of a peer only if the manifest names it', async () => {
    const finality = new Finality()
    finality.addServer('server', () => 10)
    const sink = new Sink()
    sink.isRunning = false
    const follower = finality.follow(sink)
    finality.network.connect('follower', 'server')
    await finality.time.advance(5000)
    expect(sink.imported).toHaveLength(0)
    expect(follower.reports).toEqual([])
    sink.manifest = { ...sink.manifest, initialPowerTable: powerTableCid(await finality.source.powerTable(0)) }
    await finality.time.advance(200_000)
    expect(sink.table).toEqual(await finality.source.powerTable(0))
    expect(sink.imported).toHaveLength(10)
    follower.stop()
  })

  it('a peer with another first table lies', async () => {
    const finality = new Finality()
    finality.addServer('server', () => 10)
    const sink = new Sink()
    sink.isRunning = false
    sink.manifest = { ...sink.manifest, initialPowerTable: powerTableCid([]) }
    const follower = finality.follow(sink)
    finality.network.connect('follower', 'server')
    await finality.time.advance(5000)
    expect(follower.reports).toMatchObject([{ peer: 'server', what: { proven: true } }])
  })
})

describe('poll interval', () => {
  it('comes to the time between certificates, and stays between its bounds', () => {
    const interval = new PollInterval(30_000, 120_000)
    // A certificate every 80 s.
    let now = 0
    let seen = 0
    const waits: number[] = []
    for (let i = 0; i < 200; i++) {
      const wait = interval.next(Math.floor(now / 80_000) - seen)
      seen = Math.floor(now / 80_000)
      waits.push(wait)
      now += wait
    }
    const late = waits.slice(-50)
    const mean = late.reduce((sum, wait) => sum + wait, 0) / late.length
    expect(mean).toBeGreaterThan(50_000)
    expect(mean).toBeLessThan(110_000)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(30_000)
  })

  it('waits longer and longer while nothing comes, up to ten times the longest', () => {
    const interval = new PollInterval(30_000, 120_000)
    const waits = Array.from({ length: 20 }, () => interval.next(0))
    expect(waits[0]).toBe(30_000)
    expect(waits[5]).toBeGreaterThan(waits[4] as number)
    expect(waits[19]).toBe(1_200_000)
    expect(interval.next(1)).toBeLessThanOrEqual(120_000)
  })
})
