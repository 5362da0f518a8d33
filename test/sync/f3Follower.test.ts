/** The follower of finality certificates, with peers that answer from the recording, lie, or know nothing. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Timers } from '../../src/base/ports.ts'
import type { FinalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { finalizedKey } from '../../src/consensus/f3/certificate.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { CertAnswer, CertQuestion } from '../../src/p2p/certExchange/client.ts'
import type { PeerName } from '../../src/p2p/peerLinks.ts'
import { F3Follower } from '../../src/sync/f3Follower.ts'
import { type Tipset, type TipsetKey, tipsetKeyText } from '../../src/types/tipset.ts'
import { decodedCertificates, missing, openF3 } from '../consensus/f3/support.ts'
import { silentLog } from '../support/recordedView.ts'

type Peer = (question: CertQuestion) => CertAnswer

/** A peer that has these certificates, all of instances from 0 on. */
function honest(all: readonly FinalityCertificate[], perAnswer = 10): Peer {
  return ({ firstInstance, limit }) => ({
    pendingInstance: all.length,
    powerTable: [],
    certificates: all
      .slice(firstInstance, firstInstance + Math.min(limit, perAnswer))
      .map((certificate) => ({ certificate, cbor: new Uint8Array(0) })),
  })
}

function setup(peers: Record<string, Peer>) {
  const chain = openF3()
  const waits: number[] = []
  let due: (() => void) | undefined
  const timers: Timers = {
    setTimeout: (fn, ms) => {
      waits.push(ms)
      due = fn
      return () => {
        due = undefined
      }
    },
  }
  const reports: string[] = []
  const checkpoints: TipsetKey[] = []
  const follower = new F3Follower({
    f3: chain.f3,
    peers: {
      peers: () => Object.keys(peers) as PeerName[],
      request: async (peer, question) => peers[peer as string]!(question),
    },
    links: { report: (peer) => void reports.push(peer as string) },
    timers,
    log: silentLog,
    run: (read) => read(),
    checkpoint: async (key) => void checkpoints.push(key),
  })
  return { ...chain, follower, waits, reports, checkpoints, fire: () => due?.(), pending: () => due !== undefined }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

beforeAll(async () => {
  await initCrypto()
})

describe.skipIf(missing !== undefined)('F3 follower', () => {
  it('takes certificates in batches and makes the last final tipset the checkpoint', async () => {
    const all = decodedCertificates().slice(0, 25)
    const { follower, f3, checkpoints, reports } = setup({ a: honest(all) })
    follower.start()
    expect(await follower.poll()).toBe(25)
    await settle()
    expect(f3.latest()?.instance).toBe(24)
    expect(tipsetKeyText(checkpoints.at(-1) as TipsetKey)).toBe(tipsetKeyText(finalizedKey(all[24]!)))
    expect(await follower.poll()).toBe(0)
    expect(reports).toEqual([])
    await follower.stop()
  })

  it('reports who sends a wrong one, and takes the right one from another', async () => {
    const all = decodedCertificates().slice(0, 4)
    const forged = all.map((one, i) => (i === 2 ? { ...one, signature: one.signature.slice().reverse() } : one))
    const { follower, f3, reports } = setup({ liar: honest(forged), b: honest(all) })
    expect(await follower.poll()).toBe(2)
    expect(reports).toEqual(['liar'])
    expect(f3.latest()?.instance).toBe(3)
    await follower.stop()
  })

  it('polls less often while there is no news, within the bounds of the manifest, until it is stopped', async () => {
    const { follower, waits, fire, pending, manifest } = setup({ a: honest([]) })
    follower.start()
    for (let i = 0; i < 4; i++) {
      fire()
      await settle()
    }
    const { minimumPollMs, maximumPollMs } = manifest
    expect(waits).toEqual([0, 2 * minimumPollMs, maximumPollMs, maximumPollMs, maximumPollMs])
    await follower.stop()
    expect(pending()).toBe(false)
  })

  it('waits for the bootstrap epoch', async () => {
    const { follower, view, f3 } = setup({ a: honest(decodedCertificates()) })
    view.store.setHead(view.store.tipsetByHeight(20, undefined, 'previous'))
    expect(await follower.poll()).toBe(0)
    expect(f3.isRunning).toBe(false)
    await follower.stop()
  })

  it('starts with the head that reaches it', async () => {
    const { follower, view, f3, manifest, waits, fire, pending } = setup({
      a: honest(decodedCertificates().slice(0, 3)),
    })
    const at = (height: number) => view.store.tipsetByHeight(height, undefined, 'previous')
    const [early, before, reached] = [20, manifest.bootstrapEpoch - 1, manifest.bootstrapEpoch].map(at)
    const last = view.store.head()
    view.store.setHead(early as Tipset)
    follower.start()
    fire()
    await settle()
    // However long it takes until then.
    view.store.setHead(before as Tipset)
    expect([pending(), f3.isRunning]).toEqual([false, false])
    view.store.setHead(reached as Tipset)
    expect(waits).toEqual([0])
    fire()
    await settle()
    expect(f3.isRunning).toBe(true)
    view.store.setHead(last)
    expect(f3.latest()?.instance).toBe(2)
    await follower.stop()
  })
})
