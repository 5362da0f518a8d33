/** State of the verified registry (f06). @see go-state-types builtin/v8 … v18/verifreg; specs-actors v7.0.1 */
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, tuple, uint } from '../codec/description.ts'
import { type Address, address } from '../types/address.ts'
import { type ActorId, actorId, type ChainEpoch, chainEpoch } from '../types/scalars.ts'
import { paddedPieceSize, type SectorNumber, sectorNumber } from './scalars.ts'
import { versionedTuple } from './versionedTuple.ts'

/** Who verifies clients, what clients may allot, and what providers have claimed of it. */
export interface VerifregState {
  readonly rootKey: Address
  /** HAMT (bit width 5) of address to data cap. */
  readonly verifiers: Cid
  /** Only before version 9: later the data cap actor keeps it. */
  readonly verifiedClients?: Cid
  /** HAMT (bit width 5) of a pair of addresses to proposal id. From version 7. */
  readonly removeDataCapProposalIds: Cid
  /** HAMT (bit width 5) of client to HAMT of allocation id to allocation. From version 9. */
  readonly allocations: Cid
  readonly nextAllocationId: number
  /** HAMT (bit width 5) of provider to HAMT of claim id to claim. From version 9. */
  readonly claims: Cid
}

export const verifregStateAt: (actorsVersion: number) => Codec<VerifregState> = versionedTuple<VerifregState>(
  'verifreg.State',
  [
    ['rootKey', 'RootKey', address],
    ['verifiers', 'Verifiers', cid],
    ['verifiedClients', 'VerifiedClients', cid, { until: 8 }],
    ['removeDataCapProposalIds', 'RemoveDataCapProposalIDs', cid, { from: 7 }],
    ['allocations', 'Allocations', cid, { from: 9 }],
    ['nextAllocationId', 'NextAllocationId', uint, { from: 9 }],
    ['claims', 'Claims', cid, { from: 9 }],
  ],
)
export const verifregState: Codec<VerifregState> = verifregStateAt(18)

/** Data cap promised to a provider for one piece. */
export interface Allocation {
  readonly client: ActorId
  readonly provider: ActorId
  readonly data: Cid
  readonly size: number
  readonly termMin: ChainEpoch
  readonly termMax: ChainEpoch
  readonly expiration: ChainEpoch
}

export const allocation: Codec<Allocation> = tuple<Allocation>('verifreg.Allocation', [
  ['client', 'Client', actorId],
  ['provider', 'Provider', actorId],
  ['data', 'Data', cid],
  ['size', 'Size', paddedPieceSize],
  ['termMin', 'TermMin', chainEpoch],
  ['termMax', 'TermMax', chainEpoch],
  ['expiration', 'Expiration', chainEpoch],
])

/** An allocation that a provider has in a sector. */
export interface VerifregClaim {
  readonly provider: ActorId
  readonly client: ActorId
  readonly data: Cid
  readonly size: number
  readonly termMin: ChainEpoch
  readonly termMax: ChainEpoch
  readonly termStart: ChainEpoch
  readonly sector: SectorNumber
}

export const verifregClaim: Codec<VerifregClaim> = tuple<VerifregClaim>('verifreg.Claim', [
  ['provider', 'Provider', actorId],
  ['client', 'Client', actorId],
  ['data', 'Data', cid],
  ['size', 'Size', paddedPieceSize],
  ['termMin', 'TermMin', chainEpoch],
  ['termMax', 'TermMax', chainEpoch],
  ['termStart', 'TermStart', chainEpoch],
  ['sector', 'Sector', sectorNumber],
])
