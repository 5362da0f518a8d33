import { CODEC_FIL_COMMITMENT_SEALED, createCid, HASH_POSEIDON_BLS12_381_A1_FC1 } from '../../codec/cid.ts'
import type { SectorOnChainInfo } from '../../state/sector.ts'
import type { ChainEpoch } from '../../types/scalars.ts'

/** Of SectorOnChainInfoFlags: its quality counts at once what it holds (FIP-0045). */
const SIMPLE_QA_POWER = 1

/**
 * A sector that is active from epoch 0 on, without data, pledge and daily fee.
 * @param sealProof - RegisteredSealProof
 * @param commR - replica commitment, 32 bytes
 * @see builtin-actors v18 actors/miner/src/types.rs SectorOnChainInfo
 */
export function newSector(
  sectorNumber: number,
  sealProof: number,
  commR: Uint8Array,
  expiration: ChainEpoch,
): SectorOnChainInfo {
  return {
    sectorNumber,
    sealProof,
    sealedCid: createCid(CODEC_FIL_COMMITMENT_SEALED, HASH_POSEIDON_BLS12_381_A1_FC1, commR),
    dealIds: [],
    activation: 0,
    expiration,
    dealWeight: 0n,
    verifiedDealWeight: 0n,
    initialPledge: 0n,
    expectedDayReward: null,
    expectedStoragePledge: null,
    powerBaseEpoch: 0,
    replacedDayReward: null,
    sectorKeyCid: null,
    flags: SIMPLE_QA_POWER,
    dailyFee: 0n,
  }
}
