/** Who may produce blocks, on states that no recorded chain has. */
import { expect, it } from 'vitest'
import { utf8 } from '../../src/base/bytes.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import { CODEC_RAW, createCid, HASH_IDENTITY } from '../../src/codec/cid.ts'
import { isEligible } from '../../src/consensus/eligibility.ts'
import { EMPTY_BIT_FIELD } from '../../src/ipld/bitfield.ts'
import { MemoryBlockstore, putBlock, putCbor } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { codeLookup } from '../../src/state/manifest.ts'
import { type MinerInfo, type MinerState, minerInfoAt, minerStateAt } from '../../src/state/miner.ts'
import { type PowerClaim, type PowerState, powerClaimAt, powerStateAt } from '../../src/state/power.ts'
import { idAddress } from '../../src/types/address.ts'
import { POWER_ID } from '../../src/types/singletons.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'

const MINER = 1000n
const POWER = 2n ** 40n

/** A chain whose states hold one miner and the power actor, as the actors of a version before manifests write them. */
function viewOf(version: number, miner: Partial<MinerState>): ChainView {
  const blocks = new MemoryBlockstore()
  const nothing = putBlock(blocks, Uint8Array.of(0x80))
  const code = (name: string) => createCid(CODEC_RAW, HASH_IDENTITY, utf8(`fil/${Math.max(1, version)}/${name}`))
  const claims = Hamt.empty(blocks, powerClaimAt(version), { pointerMaps: true })
  claims.set(idAddress(MINER).bytes, { sealProofType: 3, rawBytePower: POWER, qualityAdjPower: POWER } as PowerClaim)
  const power: Partial<PowerState> = {
    totalRawBytePower: POWER,
    totalBytesCommitted: POWER,
    totalQualityAdjPower: POWER,
    totalQaBytesCommitted: POWER,
    totalPledgeCollateral: 0n,
    thisEpochRawBytePower: POWER,
    thisEpochQualityAdjPower: POWER,
    thisEpochPledgeCollateral: 0n,
    thisEpochQaPowerSmoothed: { positionEstimate: 0n, velocityEstimate: 0n },
    minerCount: 1,
    minerAboveMinPowerCount: 1,
    cronEventQueue: nothing,
    firstCronEpoch: 0,
    lastProcessedCronEpoch: 0,
    claims: claims.flush(),
    proofValidationBatch: null,
  }
  const info: Partial<MinerInfo> = {
    owner: idAddress(100),
    worker: idAddress(100),
    controlAddresses: [],
    pendingWorkerKey: null,
    peerId: new Uint8Array(0),
    multiaddrs: [],
    sealProofType: 3,
    sectorSize: 34_359_738_368,
    windowPoStPartitionSectors: 2349,
    consensusFaultElapsed: -1,
    pendingOwnerAddress: null,
  }
  const state: Partial<MinerState> = {
    info: putCbor(blocks, minerInfoAt(version), info as MinerInfo),
    preCommitDeposits: 0n,
    lockedFunds: 0n,
    vestingFundsCid: nothing,
    feeDebt: 0n,
    initialPledgeRequirement: 0n,
    initialPledge: 0n,
    preCommittedSectors: nothing,
    preCommittedSectorsCleanUp: nothing,
    allocatedSectors: nothing,
    sectors: nothing,
    provingPeriodStart: 0,
    currentDeadline: 0,
    deadlines: nothing,
    earlyTerminations: EMPTY_BIT_FIELD,
    ...miner,
  }
  const actors = new Map([
    [POWER_ID, { code: code('storagepower'), head: putCbor(blocks, powerStateAt(version), power as PowerState) }],
    [MINER, { code: code('storageminer'), head: putCbor(blocks, minerStateAt(version), state as MinerState) }],
  ])
  const network = builtinNetwork('mainnet')
  return {
    network,
    codes: codeLookup(network),
    store: { blocks },
    networkVersion: () => 4,
    stateBefore: () => ({ getActor: (id: bigint) => actors.get(id) }),
  } as never
}

// lotus chain/actors/builtin/miner/v0.go FeeDebt: zero.
it.each([
  ['v0, which knows no debt', 0, {}, true],
  ['v2, without debt', 2, {}, true],
  ['v2, in debt', 2, { feeDebt: 1n }, false],
] as const)('a miner of actors %s', (_, version, miner, expected) => {
  const tipset = createTipset([header(undefined, 10, 1)])
  expect(isEligible(viewOf(version, miner), tipset, tipset, idAddress(MINER))).toBe(expected)
})
