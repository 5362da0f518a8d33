/** A seal to verify. @see go-state-types proof/proof_types.go SealVerifyInfo */
import type { Cid } from '../../codec/cid.ts'
import type { Codec } from '../../codec/codec.ts'
import { bytes, cid, list, tuple } from '../../codec/description.ts'
import { type ActorId, actorId } from '../../types/scalars.ts'
import { type DealId, dealId, registeredSealProof, type SectorNumber, sectorNumber } from '../scalars.ts'

interface SectorId {
  readonly miner: ActorId
  readonly number: SectorNumber
}

const sectorId: Codec<SectorId> = tuple<SectorId>('abi.SectorID', [
  ['miner', 'Miner', actorId],
  ['number', 'Number', sectorNumber],
])

interface SealVerifyInfo {
  readonly sealProof: number
  readonly sectorId: SectorId
  readonly dealIds: DealId[]
  readonly randomness: Uint8Array
  readonly interactiveRandomness: Uint8Array
  readonly proof: Uint8Array
  readonly sealedCid: Cid
  readonly unsealedCid: Cid
}

/** A seal with all that its proof is checked against; the power actor took them in batches up to v13. */
export const sealVerifyInfo: Codec<SealVerifyInfo> = tuple<SealVerifyInfo>('proof.SealVerifyInfo', [
  ['sealProof', 'SealProof', registeredSealProof],
  ['sectorId', 'SectorID', sectorId],
  ['dealIds', 'DealIDs', list(dealId)],
  ['randomness', 'Randomness', bytes],
  ['interactiveRandomness', 'InteractiveRandomness', bytes],
  ['proof', 'Proof', bytes],
  ['sealedCid', 'SealedCID', cid],
  ['unsealedCid', 'UnsealedCID', cid],
])
