import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { finish } from '../../src/base/steps.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { clientDataCap, verifierDataCap } from '../../src/chain/queries/dataCap.ts'
import { MarketActor } from '../../src/chain/queries/marketActor.ts'
import { activeSectors, loadMiner } from '../../src/chain/queries/minerActor.ts'
import { listMiners, minerPower } from '../../src/chain/queries/minerPower.ts'
import { deadlineInfo, nextNotElapsed } from '../../src/chain/queries/provingDeadline.ts'
import { allocations, claims } from '../../src/chain/queries/registry.ts'
import { amountLocked, spendableSupply } from '../../src/chain/queries/spendableSupply.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { present, walkFetching } from '../../src/ipld/found.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { apiMinerInfo } from '../../src/rpc/types/miner.ts'
import type { MultisigState } from '../../src/state/multisig.ts'
import { type Address, parseAddress, UNDEF_ADDRESS } from '../../src/types/address.ts'
import { silentLog } from '../rpc/stubTable.ts'
import { openGolden, openShared } from '../support/archives.ts'
import { missingShared } from '../support/shared.ts'

describe('proving deadlines', () => {
  it('are windows of 60 epochs with their challenge and cutoff before them', () => {
    // golden/nv28, StateMinerProvingDeadline of t01000 at epoch 183
    const info = nextNotElapsed(deadlineInfo(-2222, 40, 183))
    expect(info).toMatchObject({
      open: 178,
      close: 238,
      challenge: 158,
      faultCutoff: 108,
      periodStart: -2222,
      index: 40,
    })
  })

  it('that have passed come again one period later', () => {
    // go-state-types dline/deadline.go NextNotElapsed: the first window of the index that has not closed.
    for (const start of [-2222, 0, 17, 5000]) {
      for (let epoch = 0; epoch < 9000; epoch += 59) {
        for (const index of [0, 20, 47]) {
          const info = nextNotElapsed(deadlineInfo(start, index, epoch))
          expect(info.close).toBeGreaterThan(epoch)
          expect((((info.periodStart - start) % 2880) + 2880) % 2880).toBe(0)
          if (info.periodStart !== start) expect(info.close - 2880).toBeLessThanOrEqual(epoch)
        }
      }
    }
  })

  it('behind the last one have no length', () => {
    expect(deadlineInfo(100, 48, 0)).toMatchObject({ open: 2980, close: 2980, challenge: 2980, faultCutoff: 0 })
  })
})

describe('a multisig', () => {
  const state = (initialBalance: bigint, startEpoch: bigint, unlockDuration: bigint): MultisigState => ({
    signers: [],
    numApprovalsThreshold: 1,
    nextTxnId: 0,
    initialBalance,
    startEpoch,
    unlockDuration,
    pendingTxns: parseCid('bafy2bzaceamp42wmmgr2g2ymg46euououzfyck7szknvfacqscohrvaikwfay'),
  })

  it('unlocks evenly, and what is locked is rounded up', () => {
    // builtin-actors actors/multisig/src/state.rs amount_locked
    expect(amountLocked(state(100n, 10n, 7n), 9)).toBe(100n)
    expect(amountLocked(state(100n, 10n, 7n), 10)).toBe(100n)
    expect(amountLocked(state(100n, 10n, 7n), 11)).toBe(86n)
    expect(amountLocked(state(100n, 10n, 7n), 16)).toBe(15n)
    expect(amountLocked(state(100n, 10n, 7n), 17)).toBe(0n)
    expect(amountLocked(state(100n, 0n, 0n), 0)).toBe(0n)
    const longest = (1n << 63n) - 1n
    expect(amountLocked(state(1n << 63n, 10n, longest), 12)).toBe((1n << 63n) - 2n)
    expect(amountLocked(state(100n, longest, 7n), 12)).toBe(100n)
  })
})

describe.skipIf(missingShared('data/snapshots') !== undefined)('mainnet at its beginning, actors v0', () => {
  const open = (): { view: ChainView; tree: ReturnType<ChainView['stateBefore']> } => {
    const archive = openShared('snapshots/chain4.car')
    const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive])
    const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: archive.roots })
    const view = new ChainView({ store, network: builtinNetwork('mainnet'), beaconRound: () => 0 })
    return { view, tree: view.stateBefore(store.genesis()) }
  }

  it('has the power that elections were checked with', () => {
    const { view, tree } = open()
    const miners = [...present(listMiners(view, tree))]
    expect(miners.map(String).sort()).toEqual(['f01000', 'f01001', 'f01002'])
    // data/snapshots/README.md
    expect(minerPower(view, tree, UNDEF_ADDRESS).totalPower.qualityAdjPower).toBe(791648371998720n)
    let sum = 0n
    for (const miner of miners) {
      const power = minerPower(view, tree, miner)
      expect(power.hasMinPower).toBe(true)
      sum += power.minerPower.qualityAdjPower
    }
    expect(sum).toBe(791648371998720n)
  })

  it('has sectors of 32 GiB that are their power, and a deal in each', () => {
    const { view, tree } = open()
    let sectors = 0
    for (const address of present(listMiners(view, tree))) {
      const miner = loadMiner(view, tree, address)
      const info = miner.info()
      expect(info.sectorSize).toBe(2 ** 35)
      expect(info.windowPoStProofType).toBe(8)
      expect(
        apiMinerInfo.toJson({ ...info, newWorker: UNDEF_ADDRESS, workerChangeEpoch: -1 }, { addressPrefix: 'f' }),
      ).toMatchObject({
        Beneficiary: '<empty>',
        ConsensusFaultElapsed: -1,
      })
      const active = miner.sectorsOf(activeSectors)
      expect(BigInt(active.count) * BigInt(info.sectorSize)).toBe(
        minerPower(view, tree, address).minerPower.rawBytePower,
      )
      for (const sector of miner.sectors(active)) expect(sector.dealIds.length).toBe(1)
      sectors += active.count
    }
    let deals = 0
    for (const [, deal] of present(new MarketActor(view, tree).deals())) {
      expect(deal.proposal.pieceSize).toBe(2 ** 35)
      deals++
    }
    expect(deals).toBe(sectors)
  })

  it('circulates what nobody holds back', async () => {
    const { view, tree } = open()
    const { signal } = new AbortController()
    const supply = await walkFetching(spendableSupply(view, tree, 0), { walk: finish, signal })
    expect(supply).toBeGreaterThan(0n)
    expect(supply).toBeLessThan(2_000_000_000n * 10n ** 18n)
    expect(verifierDataCap(view, tree, 1000n)).toBeUndefined()
  })
})

describe.skipIf(missingShared('data/golden/nv28') !== undefined)('the verified registry of a recorded chain', () => {
  it('has a claim for each verified deal that is in a sector', () => {
    const { store: archive, network } = openGolden('nv28')
    const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive])
    const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: archive.roots })
    const view = new ChainView({ store, network, beaconRound: (epoch) => epoch + 100 })
    const tree = view.stateBefore(store.head())
    const all = new Map(present(claims(view, tree).all()))
    const deals: string[] = []
    for (const [, { proposal, state }] of present(new MarketActor(view, tree).deals())) {
      deals.push(
        `${tree.lookupId(proposal.provider)} ${tree.lookupId(proposal.client)} ${state.sectorNumber} ${proposal.pieceCid}`,
      )
    }
    const found = [...all.values()].map((claim) => `${claim.provider} ${claim.client} ${claim.sector} ${claim.data}`)
    expect(found.length).toBeGreaterThan(0)
    for (const one of found) expect(deals).toContain(one)
    for (const [number, claim] of all) {
      expect(claims(view, tree).get(claim.provider, number)).toEqual(claim)
      expect(new Map(present(claims(view, tree).of(claim.provider))).get(number)).toEqual(claim)
    }
    expect([...allocations(view, tree).of(1000n)]).toEqual([])
  })

  it('counts data cap as Lotus said', () => {
    // golden/nv28/session.jsonl.zst, StateVerifierStatus and StateVerifiedClientStatus
    const { store: archive, network } = openGolden('nv28')
    const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive])
    const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: archive.roots })
    const view = new ChainView({ store, network, beaconRound: (epoch) => epoch + 100 })
    // The answers were given while the chain grew: one of its states has both.
    const [verifier, client] = [
      't13a5iiget2vk7qyb6sfe5ed7gx3jvzsk4qqxjrfq',
      't1s6dviecni6uvgle2knae47qe6hnqtbq5hyko35i',
    ].map(parseAddress)
    const seen = new Set<string>()
    for (let tipset = store.head(); tipset.height > 0; tipset = store.parent(tipset)) {
      const tree = view.stateBefore(tipset)
      // Both actors are made by the chain.
      const ids = [verifier, client].map((one) => tree.lookupId(one as Address))
      if (ids.includes(undefined)) break
      const [verifierId, clientId] = ids as [bigint, bigint]
      seen.add(`${verifierDataCap(view, tree, verifierId)} ${clientDataCap(view, tree, clientId)}`)
    }
    expect([...seen]).toContain('1098437885952 1073741824')
  })
})
