/** Certificates of a local chain: what they decide on, that a follower believes them, and when there are none. */
import { beforeAll, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Timers } from '../../src/base/ports.ts'
import { chainBase, chainHead, type FinalityCertificate, finalizedKey } from '../../src/consensus/f3/certificate.ts'
import { ecPowerTable } from '../../src/consensus/f3/ecPowerTable.ts'
import { F3 } from '../../src/consensus/f3/f3.ts'
import { f3ManifestOf } from '../../src/consensus/f3/manifest.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { FinalityVotes } from '../../src/devnet/finalityVotes.ts'
import { allAtHand } from '../../src/ipld/blockFetcher.ts'
import { tipsetKeyBytes } from '../../src/types/tipset.ts'
import { type DevnetNode, type DevnetNodeOptions, devnetNode } from '../support/devnetNode.ts'

/** Of go-f3's manifests, as Lotus has them: these newest tipsets are not voted on; a certificate holds so many. */
const HEAD_LOOKBACK = 4
const PROPOSED_LENGTH = 100
const FROM = 10

beforeAll(async () => {
  await initCrypto()
})

/** Those that every runtime has. */
const timers: Timers = {
  setTimeout: (fn, ms) => {
    const timer = setTimeout(fn, ms)
    return () => clearTimeout(timer)
  },
}

interface Voting extends DevnetNode {
  readonly f3: F3
  /** What outlives a kill: the certificate that was signed last. */
  readonly kept: MemoryStore
  readonly votes: FinalityVotes
}

function voting(given: DevnetNodeOptions = {}): Voting {
  return votingOn(devnetNode({ finalityFrom: FROM, ...given }), new MemoryStore())
}

function votingOn(node: DevnetNode, kept: MemoryStore): Voting {
  const { view, plan } = node
  const f3 = new F3({ view, manifest: f3ManifestOf(plan.network)!, store: new MemoryStore() })
  const votes = new FinalityVotes(plan.producers, {
    ...{ f3, view, store: kept, edge: allAtHand, timers },
    log: {
      debug: () => undefined,
      info: () => undefined,
      error: () => undefined,
      warn: (message, fields) =>
        void node.log.push({ level: 'warn', message: `${message}: ${String(fields?.reason)}` }),
    },
  })
  return { ...node, f3, votes, kept }
}

/** Resolves with the newest certificate once it makes this epoch final. */
async function finalAt(f3: F3, epoch: number): Promise<FinalityCertificate> {
  return await new Promise((resolve) => {
    const look = (): void => {
      const latest = f3.latest()
      if (latest !== undefined && chainHead(latest).epoch >= epoch) resolve(latest)
    }
    f3.onCertificate(look)
    look()
  })
}

function certificatesOf(f3: F3): FinalityCertificate[] {
  return Array.from({ length: f3.pendingInstance() }, (_, instance) => f3.certificate(instance))
}

it('decide on the chain but its newest tipsets, each where the one before ended', async () => {
  const { devnet, store, f3, votes, view } = voting({ miners: 3 })
  votes.start()
  await devnet.mine(FROM - 1)
  expect(f3.latest()).toBeUndefined()
  for (let epoch = FROM; epoch < FROM + 15; epoch++) {
    await devnet.mine()
    await finalAt(f3, store.tipsetByHeight(store.head().height - HEAD_LOOKBACK, undefined, 'previous').height)
  }
  await votes.stop()
  const all = certificatesOf(f3)
  expect(all.length).toBeGreaterThan(5)
  expect(chainBase(all[0]!).key).toEqual(tipsetKeyBytes(store.genesis().key))
  for (const [i, certificate] of all.entries()) {
    if (i > 0) expect(chainBase(certificate)).toEqual(chainHead(all[i - 1]!))
    for (const { key, epoch } of certificate.ecChain) {
      expect(key).toEqual(tipsetKeyBytes(store.tipsetByHeight(epoch, undefined, 'previous').key))
    }
  }
  const unfinal = []
  for (let tip = store.head(); tip.height > chainHead(all.at(-1)!).epoch; tip = store.parent(tip)) unfinal.push(tip)
  expect(unfinal).toHaveLength(HEAD_LOOKBACK)

  // A follower that has the genesis alone, and its table.
  const follower = new F3({ view, manifest: f3.manifest, store: new MemoryStore() })
  follower.startFrom(ecPowerTable(view, store.genesis()))
  expect(follower.importCertificates(all)).toBe(all.length)
  expect(follower.finalizedTipset()?.key).toEqual(finalizedKey(all.at(-1)!))
})

it('come up to an older chain in full certificates, over any number of null rounds', { timeout: 60_000 }, async () => {
  const { devnet, store, f3, votes } = voting()
  await devnet.mine(PROPOSED_LENGTH + 10)
  await devnet.mine(1, { nullRounds: 3 * PROPOSED_LENGTH })
  await devnet.mine(HEAD_LOOKBACK)
  const last = store.tipsetByHeight(store.head().height - HEAD_LOOKBACK, undefined, 'previous')
  expect(store.parent(last).height).toBeLessThan(last.height - 2 * PROPOSED_LENGTH)
  votes.start()
  await finalAt(f3, last.height)
  await votes.stop()
  const all = certificatesOf(f3)
  expect(all[0]!.ecChain.length).toBeGreaterThan(PROPOSED_LENGTH / 2)
  for (const { ecChain } of all) expect(ecChain.length).toBeLessThanOrEqual(PROPOSED_LENGTH)
  expect(chainHead(all.at(-1)!).epoch).toBe(last.height)
})

it('are not made by who has less than two thirds of the power, which is said once', async () => {
  const { devnet, f3, votes, log } = voting({ miners: 3, produce: [0], blockTimeMs: 4000 })
  votes.start()
  await devnet.mine(FROM + 5)
  await devnet.mine(5)
  await new Promise((resolve) => timers.setTimeout(() => resolve(undefined), 0))
  await votes.stop()
  expect(f3.isRunning).toBe(true)
  expect(f3.latest()).toBeUndefined()
  expect(log.filter(({ level }) => level === 'warn')).toEqual([
    { level: 'warn', message: 'no votes on finality: the keys that are here have less than two thirds of the power' },
  ])
})

it('do not follow a head that leaves what is final', async () => {
  const { devnet, store, f3, votes, log } = voting()
  await devnet.mine(FROM + 10)
  votes.start()
  const final = await finalAt(f3, 1)
  await devnet.mine(0, { fork: HEAD_LOOKBACK + 8 })
  await devnet.mine(5)
  await new Promise((resolve) => timers.setTimeout(() => resolve(undefined), 0))
  await votes.stop()
  expect(store.tipsetByHeight(chainHead(final).epoch, undefined, 'previous').key).not.toEqual(finalizedKey(final))
  expect(f3.latest()).toEqual(final)
  expect(log.filter(({ level }) => level === 'warn')).toEqual([])
})

it('sign no second certificate of an instance after a kill, though the head has moved on', async () => {
  const before = voting()
  await before.devnet.mine(FROM + 10)
  before.votes.start()
  const told = await finalAt(before.f3, FROM)
  await before.votes.stop()
  await before.devnet.mine(20)
  // Of all that was written what was signed is left: the disk had it before anybody was told.
  const after = votingOn(before, before.kept)
  after.f3.start()
  for (const one of certificatesOf(before.f3).slice(0, told.instance)) after.f3.importCertificates([one])
  after.votes.start()
  await finalAt(after.f3, chainHead(told).epoch + 1)
  await after.votes.stop()
  expect(after.f3.certificate(told.instance)).toEqual(told)
})
