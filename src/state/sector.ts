/** Sectors of a miner. @see go-state-types builtin/v8 … v18/miner miner_state.go; specs-actors v0.9.14 … v7.0.1 */

import { bigInt } from '../codec/bigInteger.ts'
import type { Cid } from '../codec/cid.ts'
import { bool, type Codec, cid, list, nullable, uint } from '../codec/description.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../types/scalars.ts'
import { optionalTail } from './optionalTail.ts'
import { type DealId, dealId, registeredSealProof, type SectorNumber, sectorNumber } from './scalars.ts'
import { versionedTuple } from './versionedTuple.ts'

/** A sector that was proven, until it expires or is terminated. */
export interface SectorOnChainInfo {
  readonly sectorNumber: SectorNumber
  readonly sealProof: number
  /** CommR. */
  readonly sealedCid: Cid
  /** Deprecated from version 16 on, and not in JSON there. */
  readonly dealIds: DealId[]
  readonly activation: ChainEpoch
  readonly expiration: ChainEpoch
  /** Byte-epochs. */
  readonly dealWeight: bigint
  /** Byte-epochs. */
  readonly verifiedDealWeight: bigint
  readonly initialPledge: TokenAmount
  /** Null only from version 16 on. */
  readonly expectedDayReward: TokenAmount | null
  /** Null only from version 16 on. */
  readonly expectedStoragePledge: TokenAmount | null
  /** Only in versions 2 to 11. */
  readonly replacedSectorAge?: ChainEpoch
  /** From version 12. */
  readonly powerBaseEpoch: ChainEpoch
  /** From version 2. */
  readonly replacedDayReward: TokenAmount | null
  /** CommR before the first replica update. From version 7. */
  readonly sectorKeyCid: Cid | null
  /** Only in versions 9 to 11. */
  readonly simpleQaPower?: boolean
  /** Bit 0: simple quality-adjusted power. From version 12. */
  readonly flags: number
  /** From version 16. */
  readonly dailyFee: TokenAmount
}

const layout = versionedTuple<SectorOnChainInfo>('miner.SectorOnChainInfo', [
  ['sectorNumber', 'SectorNumber', sectorNumber],
  ['sealProof', 'SealProof', registeredSealProof],
  ['sealedCid', 'SealedCID', cid],
  ['dealIds', 'DealIDs', list(dealId), { until: 15 }],
  ['dealIds', 'DeprecatedDealIDs', list(dealId), { from: 16 }],
  ['activation', 'Activation', chainEpoch],
  ['expiration', 'Expiration', chainEpoch],
  ['dealWeight', 'DealWeight', bigInt],
  ['verifiedDealWeight', 'VerifiedDealWeight', bigInt],
  ['initialPledge', 'InitialPledge', tokenAmount],
  ['expectedDayReward', 'ExpectedDayReward', nullable(tokenAmount)],
  ['expectedStoragePledge', 'ExpectedStoragePledge', nullable(tokenAmount)],
  ['replacedSectorAge', 'ReplacedSectorAge', chainEpoch, { from: 2, until: 11 }],
  ['powerBaseEpoch', 'PowerBaseEpoch', chainEpoch, { from: 12 }],
  ['replacedDayReward', 'ReplacedDayReward', nullable(tokenAmount), { from: 2 }],
  ['sectorKeyCid', 'SectorKeyCID', nullable(cid), { from: 7 }],
  ['simpleQaPower', 'SimpleQAPower', bool, { from: 9, until: 11 }],
  ['flags', 'Flags', uint, { from: 12 }],
  ['dailyFee', 'DailyFee', tokenAmount, { from: 16 }],
])

const FIELDS_V16 = 16

function withoutDealIds(codec: Codec<SectorOnChainInfo>): Codec<SectorOnChainInfo> {
  return {
    ...codec,
    toJson: (value, context) => {
      const { DeprecatedDealIDs: _hidden, ...rest } = codec.toJson(value, context) as Record<string, never>
      return rest
    },
  }
}

/** From version 16 on; a sector that was written before lacks the daily fee, which is zero then. */
export const sectorOnChainInfo: Codec<SectorOnChainInfo> = withoutDealIds(
  optionalTail(layout(18), FIELDS_V16, layout(15), (value) => ({ ...value, dailyFee: 0n })),
)

/** The layout of an actors version; from 16 on the one before is read, too. */
export function sectorOnChainInfoAt(actorsVersion: number): Codec<SectorOnChainInfo> {
  return actorsVersion >= 16 ? sectorOnChainInfo : layout(actorsVersion)
}

/** What a miner says of a sector before it proves it. */
export interface SectorPreCommitInfo {
  readonly sealProof: number
  readonly sectorNumber: SectorNumber
  readonly sealedCid: Cid
  readonly sealRandEpoch: ChainEpoch
  readonly dealIds: DealId[]
  readonly expiration: ChainEpoch
  /** Only before version 9, with the three behind it. */
  readonly replaceCapacity?: boolean
  readonly replaceSectorDeadline?: number
  readonly replaceSectorPartition?: number
  readonly replaceSectorNumber?: SectorNumber
  /** CommD. From version 9. */
  readonly unsealedCid: Cid | null
}

export const sectorPreCommitInfoAt: (actorsVersion: number) => Codec<SectorPreCommitInfo> =
  versionedTuple<SectorPreCommitInfo>('miner.SectorPreCommitInfo', [
    ['sealProof', 'SealProof', registeredSealProof],
    ['sectorNumber', 'SectorNumber', sectorNumber],
    ['sealedCid', 'SealedCID', cid],
    ['sealRandEpoch', 'SealRandEpoch', chainEpoch],
    ['dealIds', 'DealIDs', list(dealId)],
    ['expiration', 'Expiration', chainEpoch],
    ['replaceCapacity', 'ReplaceCapacity', bool, { until: 8 }],
    ['replaceSectorDeadline', 'ReplaceSectorDeadline', uint, { until: 8 }],
    ['replaceSectorPartition', 'ReplaceSectorPartition', uint, { until: 8 }],
    ['replaceSectorNumber', 'ReplaceSectorNumber', sectorNumber, { until: 8 }],
    ['unsealedCid', 'UnsealedCid', nullable(cid), { from: 9 }],
  ])

/** A sector that is still to be proven, and the deposit for that in attoFIL. */
export interface SectorPreCommitOnChainInfo {
  readonly info: SectorPreCommitInfo
  readonly preCommitDeposit: TokenAmount
  readonly preCommitEpoch: ChainEpoch
  /** Only before version 9, with the one behind it. */
  readonly dealWeight?: bigint
  readonly verifiedDealWeight?: bigint
}

const preCommitWith = (
  info: Codec<SectorPreCommitInfo>,
): ((actorsVersion: number) => Codec<SectorPreCommitOnChainInfo>) =>
  versionedTuple<SectorPreCommitOnChainInfo>('miner.SectorPreCommitOnChainInfo', [
    ['info', 'Info', info],
    ['preCommitDeposit', 'PreCommitDeposit', tokenAmount],
    ['preCommitEpoch', 'PreCommitEpoch', chainEpoch],
    ['dealWeight', 'DealWeight', bigInt, { until: 8 }],
    ['verifiedDealWeight', 'VerifiedDealWeight', bigInt, { until: 8 }],
  ])

/** Codec of {@link SectorPreCommitOnChainInfo} in an actors version. */
export function sectorPreCommitOnChainInfoAt(actorsVersion: number): Codec<SectorPreCommitOnChainInfo> {
  return preCommitWith(sectorPreCommitInfoAt(actorsVersion))(actorsVersion)
}
export const sectorPreCommitOnChainInfo: Codec<SectorPreCommitOnChainInfo> = sectorPreCommitOnChainInfoAt(18)
