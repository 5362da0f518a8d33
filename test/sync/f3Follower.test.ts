/** The follower of finality certificates, with peers that answer from the recording, lie, or know nothing. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Clock, Timers } from '../../src/base/ports.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import type { FinalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { chainHead, finalizedKey } from '../../src/consensus/f3/certificate.ts'
import { F3 } from '../../src/consensus/f3/f3.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { CertAnswer, CertQuestion } from '../../src/p2p/certExchange/client.ts'
import type { PeerName } from '../../src/p2p/peerLinks.ts'
import { F3Follower, SILENT_MS } from '../../src/sync/f3Follower.ts'
import { STRETCH_MS } from '../../src/sync/limits.ts'
import { type Tipset, type TipsetKey, tipsetKeyText } from '../../src/types/tipset.ts'
import { decodedCertificates, missing, openF3 } from '../consensus/f3/support.ts'
import { silentLog } from '../support/recordedView.ts'
import { VirtualTime } from '../support/virtualTime.ts'

type Peer = (question: CertQuestion) => CertAnswer | Promise<CertAnswer>

/** A peer that has these certificates, all of instances from 0 on. */
function honest(all: readonly FinalityCertificate[], perAnswer = 10): (question: CertQuestion) => CertAnswer {
  return ({ firstInstance, limit }) => ({
    pendingInstance: all.length,
    powerTable: [],
    certificates: all
      .slice(firstInstance, firstInstance + Math.min(limit, perAnswer))
      .map((certificate) => ({ certificate, cbor: new Uint8Array(0) })),
  })
}

interface Bends {
  /** Default: that of the chain, which is longer than the chain. */
  readonly chainFinality?: number
  /** By how much the clock has moved on whenever it is looked at. */
  readonly lookMs?: number
}

function setup(peers: Record<string, Peer>, { chainFinality, lookMs = 0 }: Bends = {}) {
  const chain = openF3()
  const { view, manifest, store } = chain
  const protocol = { ...view.network.protocol, ...(chainFinality === undefined ? {} : { chainFinality }) }
  const bent = new ChainView({
    store: view.store,
    network: { ...view.network, protocol },
    beaconRound: mockBeacon.roundAt,
  })
  const f3 = new F3({ view: bent, manifest, store })
  const time = new VirtualTime()
  const waits: number[] = []
  const timers: Timers = {
    setTimeout: (fn, ms) => {
      waits.push(ms)
      return time.setTimeout(fn, ms)
    },
  }
  let lookedMs = 0
  const clock: Clock = {
    nowMs: () => time.nowMs(),
    monotonicMs: () => {
      lookedMs += lookMs
      return time.monotonicMs() + lookedMs
    },
  }
  const reports: string[] = []
  const checkpoints: TipsetKey[] = []
  const follower = new F3Follower({
    f3,
    peers: {
      peers: () => Object.keys(peers) as PeerName[],
      request: async (peer, question) => peers[peer as string]!(question),
    },
    links: { report: (peer) => void reports.push(peer as string) },
    clock,
    timers,
    log: silentLog,
    run: (read) => read(),
    checkpoint: async (key) => void checkpoints.push(key),
  })
  return { ...chain, f3, follower, time, waits, reports, checkpoints }
}

beforeAll(async () => {
  await initCrypto()
})

describe.skipIf(missing !== undefined)('F3 follower', () => {
  it('takes certificates in batches and makes the last final tipset the checkpoint', async () => {
    const all = decodedCertificates().slice(0, 25)
    const { follower, f3, time, checkpoints, reports } = setup({ a: honest(all) })
    follower.start()
    await time.advance(0)
    expect(f3.latest()?.instance).toBe(24)
    expect(tipsetKeyText(checkpoints.at(-1) as TipsetKey)).toBe(tipsetKeyText(finalizedKey(all[24]!)))
    expect(await follower.poll()).toBe(0)
    expect(reports).toEqual([])
    await follower.stop()
  })

  it('makes no checkpoint of what the head never goes back behind', async () => {
    const all = decodedCertificates()
    const { epoch } = chainHead(all[24]!)
    const made = async (chainFinality: number): Promise<string[]> => {
      const { follower, view, time, checkpoints } = setup({ a: honest(all.slice(0, 25)) }, { chainFinality })
      const reached = view.store.tipsetByHeight(epoch + 40, undefined, 'previous')
      expect(reached.height).toBe(epoch + 40)
      view.store.setHead(reached)
      follower.start()
      await time.advance(0)
      await follower.stop()
      return checkpoints.map(tipsetKeyText)
    }
    // So that the last one lies twice as deep, and deeper than that.
    expect((await made(20)).at(-1)).toBe(tipsetKeyText(finalizedKey(all[24]!)))
    expect(await made(19)).toEqual([])
  })

  it('lets others have their turn while it verifies a long answer', async () => {
    const all = decodedCertificates()
    const { follower, f3, time } = setup({ a: honest(all, all.length) })
    const polled = follower.poll()
    const seen: number[] = []
    time.setTimeout(() => seen.push(f3.pendingInstance()), 0)
    expect(await time.until(polled)).toBe(all.length)
    expect(seen).toEqual([8])
    await follower.stop()
  })

  it('lets others have their turn while it looks for the bootstrap', async () => {
    const { follower, f3, time } = setup({ a: honest(decodedCertificates().slice(0, 3)) }, { lookMs: STRETCH_MS })
    const polled = follower.poll()
    const seen: boolean[] = []
    time.setTimeout(() => seen.push(f3.isRunning), 0)
    expect(await time.until(polled)).toBe(3)
    expect([seen, f3.isRunning]).toEqual([[false], true])
    await follower.stop()
  })

  it('reports who sends a wrong one, and takes the right one from another', async () => {
    const all = decodedCertificates().slice(0, 4)
    const forged = all.map((one, i) => (i === 2 ? { ...one, signature: one.signature.slice().reverse() } : one))
    const { follower, f3, reports } = setup({ liar: honest(forged), b: honest(all) })
    expect(await follower.poll()).toBe(4)
    expect(reports).toEqual(['liar'])
    expect(f3.latest()?.instance).toBe(3)
    await follower.stop()
  })

  it('asks every peer in turn, however many have nothing new', async () => {
    const all = decodedCertificates().slice(0, 3)
    const asked: string[] = []
    const peers = Object.fromEntries(
      Array.from({ length: 30 }, (_, i): [string, Peer] => {
        const peer = honest(i === 29 ? all : [])
        return [
          `peer ${i}`,
          (question) => {
            asked.push(`peer ${i}`)
            return peer(question)
          },
        ]
      }),
    )
    const { follower, f3 } = setup(peers)
    for (let i = 0; i < Math.ceil(30 / 4); i++) await follower.poll()
    expect(new Set(asked).size).toBe(30)
    expect(f3.latest()?.instance).toBe(2)
    // Who brought news is asked first from now on, the others as before; who left is not.
    asked.length = 0
    delete peers['peer 3']
    await follower.poll()
    expect(asked).toEqual(['peer 29', 'peer 2', 'peer 4', 'peer 5'])
    await follower.stop()
  })

  it('goes on until somebody has as many, and waits a second for those that say nothing', async () => {
    const all = decodedCertificates().slice(0, 6)
    const asked: string[] = []
    const silent =
      (name: string): Peer =>
      () => {
        asked.push(name)
        return new Promise(() => undefined)
      }
    const names = Array.from({ length: 20 }, (_, i) => `silent ${i}`)
    const has = { count: 3 }
    const peers: Record<string, Peer> = Object.fromEntries(names.map((name) => [name, silent(name)]))
    peers.honest = (question) => honest(all.slice(0, has.count))(question)
    const { follower, f3, time } = setup(peers)
    const began = time.monotonicMs()
    expect(await time.until(follower.poll())).toBe(3)
    expect(time.monotonicMs() - began).toBe(names.length * SILENT_MS)
    expect(asked).toEqual(names)
    // Who may answer still is not asked again; who brought news comes first.
    has.count = 6
    const then = time.monotonicMs()
    expect(await time.until(follower.poll())).toBe(3)
    expect([time.monotonicMs() - then, asked.length, f3.latest()?.instance]).toEqual([0, names.length, 5])
  })

  it('polls less often while there is no news, within the bounds of the manifest, until it is stopped', async () => {
    const { follower, waits, time, manifest } = setup({ a: honest([]) })
    follower.start()
    // But for the time that an answer may take.
    const polls = (): number[] => waits.filter((ms) => ms !== SILENT_MS)
    for (let i = 0; i < 4; i++) await time.advance(polls().at(-1) as number)
    const { minimumPollMs, maximumPollMs } = manifest
    expect(polls()).toEqual([0, 2 * minimumPollMs, maximumPollMs, maximumPollMs, maximumPollMs])
    await follower.stop()
    expect(time.pending).toBe(0)
  })

  it('waits for the bootstrap epoch', async () => {
    const { follower, view, f3 } = setup({ a: honest(decodedCertificates()) })
    view.store.setHead(view.store.tipsetByHeight(20, undefined, 'previous'))
    expect(await follower.poll()).toBe(0)
    expect(f3.isRunning).toBe(false)
    await follower.stop()
  })

  it('starts with the head that reaches it', async () => {
    const { follower, view, f3, manifest, waits, time } = setup({
      a: honest(decodedCertificates().slice(0, 3)),
    })
    const at = (height: number) => view.store.tipsetByHeight(height, undefined, 'previous')
    const [early, before, reached] = [20, manifest.bootstrapEpoch - 1, manifest.bootstrapEpoch].map(at)
    const last = view.store.head()
    view.store.setHead(early as Tipset)
    follower.start()
    await time.advance(0)
    // However long it takes until then.
    view.store.setHead(before as Tipset)
    expect([time.pending, f3.isRunning]).toEqual([0, false])
    view.store.setHead(reached as Tipset)
    expect(waits).toEqual([0])
    await time.advance(0)
    expect(f3.isRunning).toBe(true)
    view.store.setHead(last)
    expect(f3.latest()?.instance).toBe(2)
    await follower.stop()
  })
})
