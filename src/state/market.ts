/** State of the market actor (f05). @see go-state-types builtin/v8 … v18/market; specs-actors v0.9.14 */
import { EMPTY_BYTES, fromUtf8, utf8 } from '../base/bytes.ts'
import { MAJOR_TEXT } from '../codec/cbor.ts'
import type { Cid } from '../codec/cid.ts'
import { bool, type Codec, cid, type Json, uint } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { wrongJson } from '../codec/goJson.ts'
import { type Address, address } from '../types/address.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../types/scalars.ts'
import { type DealId, dealId, paddedPieceSize, type SectorNumber, sectorNumber } from './scalars.ts'
import { versionedTuple } from './versionedTuple.ts'

/** Deals, and the money that waits for them. */
export interface MarketState {
  /** AMT (bit width 5) of deal id to proposal. */
  readonly proposals: Cid
  /** AMT (bit width 6) of deal id to state. */
  readonly states: Cid
  /** HAMT (bit width 5) set of proposal CIDs. */
  readonly pendingProposals: Cid
  /** HAMT (bit width 6) of address to amount. */
  readonly escrowTable: Cid
  /** HAMT (bit width 6) of address to amount. */
  readonly lockedTable: Cid
  readonly nextId: DealId
  /** HAMT (bit width 5) of epoch to set of deal ids. */
  readonly dealOpsByEpoch: Cid
  readonly lastCron: ChainEpoch
  readonly totalClientLockedCollateral: TokenAmount
  readonly totalProviderLockedCollateral: TokenAmount
  readonly totalClientStorageFee: TokenAmount
  /** HAMT (bit width 5) of deal id to allocation id. From version 9. */
  readonly pendingDealAllocationIds: Cid
  /** HAMT (bit width 5) of provider to HAMT of sector to deal ids. From version 13. */
  readonly providerSectors: Cid
}

export const marketStateAt: (actorsVersion: number) => Codec<MarketState> = versionedTuple<MarketState>(
  'market.State',
  [
    ['proposals', 'Proposals', cid],
    ['states', 'States', cid],
    ['pendingProposals', 'PendingProposals', cid],
    ['escrowTable', 'EscrowTable', cid],
    ['lockedTable', 'LockedTable', cid],
    ['nextId', 'NextID', dealId],
    ['dealOpsByEpoch', 'DealOpsByEpoch', cid],
    ['lastCron', 'LastCron', chainEpoch],
    ['totalClientLockedCollateral', 'TotalClientLockedCollateral', tokenAmount],
    ['totalProviderLockedCollateral', 'TotalProviderLockedCollateral', tokenAmount],
    ['totalClientStorageFee', 'TotalClientStorageFee', tokenAmount],
    ['pendingDealAllocationIds', 'PendingDealAllocationIds', cid, { from: 9 }],
    ['providerSectors', 'ProviderSectors', cid, { from: 13 }],
  ],
)
export const marketState: Codec<MarketState> = marketStateAt(18)

/** A deal's label: text or bytes, as the client sent it. Kept apart because they have different CIDs. */
export interface DealLabel {
  readonly isText: boolean
  readonly data: Uint8Array
}

/** CBOR text or byte string; JSON text, empty for bytes. */
export const dealLabel: Codec<DealLabel> = {
  name: 'market.DealLabel',
  write: (writer, value) => {
    if (value.isText) writer.text(fromUtf8(value.data))
    else writer.bytes(value.data)
  },
  read: (reader) =>
    reader.peekMajor() === MAJOR_TEXT
      ? { isText: true, data: utf8(reader.readText()) }
      : { isText: false, data: reader.readBytes() },
  toJson: (value) => (value.isText ? fromUtf8(value.data) : ''),
  fromJson: (json: Json | undefined) => {
    if (json === undefined || json === null) return { isText: true, data: EMPTY_BYTES }
    if (typeof json !== 'string') throw wrongJson(json, 'string')
    return { isText: true, data: utf8(json) }
  },
  schema: { type: 'string' },
}

/** A label before version 8: text of any bytes, since Go did not check. */
const textLabel: Codec<DealLabel> = {
  ...dealLabel,
  read: (reader) => {
    if (reader.peekMajor() !== MAJOR_TEXT) throw new CodecError('WRONG_TYPE', 'Cannot read label: expected text')
    return dealLabel.read(reader)
  },
}

/** What client and provider have agreed on. Sizes in bytes, amounts in attoFIL. */
export interface DealProposal {
  readonly pieceCid: Cid
  readonly pieceSize: number
  readonly verifiedDeal: boolean
  readonly client: Address
  readonly provider: Address
  readonly label: DealLabel
  readonly startEpoch: ChainEpoch
  readonly endEpoch: ChainEpoch
  readonly storagePricePerEpoch: TokenAmount
  readonly providerCollateral: TokenAmount
  readonly clientCollateral: TokenAmount
}

const proposalWithTextLabel = dealProposalCodec(textLabel)

function dealProposalCodec(label: Codec<DealLabel>): Codec<DealProposal> {
  return versionedTuple<DealProposal>('market.DealProposal', [
    ['pieceCid', 'PieceCID', cid],
    ['pieceSize', 'PieceSize', paddedPieceSize],
    ['verifiedDeal', 'VerifiedDeal', bool],
    ['client', 'Client', address],
    ['provider', 'Provider', address],
    ['label', 'Label', label],
    ['startEpoch', 'StartEpoch', chainEpoch],
    ['endEpoch', 'EndEpoch', chainEpoch],
    ['storagePricePerEpoch', 'StoragePricePerEpoch', tokenAmount],
    ['providerCollateral', 'ProviderCollateral', tokenAmount],
    ['clientCollateral', 'ClientCollateral', tokenAmount],
  ])(18)
}

export const dealProposal: Codec<DealProposal> = dealProposalCodec(dealLabel)

/** @param actorsVersion - before 8 a label is text */
export function dealProposalAt(actorsVersion: number): Codec<DealProposal> {
  return actorsVersion >= 8 ? dealProposal : proposalWithTextLabel
}

/** What became of a deal since it was activated. */
export interface DealState {
  /** From version 13. */
  readonly sectorNumber: SectorNumber
  /** -1: not yet in a proven sector. */
  readonly sectorStartEpoch: ChainEpoch
  /** -1: never. */
  readonly lastUpdatedEpoch: ChainEpoch
  /** -1: never. */
  readonly slashEpoch: ChainEpoch
  /** Only in versions 9 to 12. */
  readonly verifiedClaim?: number
}

export const dealStateAt: (actorsVersion: number) => Codec<DealState> = versionedTuple<DealState>('market.DealState', [
  ['sectorNumber', 'SectorNumber', sectorNumber, { from: 13 }],
  ['sectorStartEpoch', 'SectorStartEpoch', chainEpoch],
  ['lastUpdatedEpoch', 'LastUpdatedEpoch', chainEpoch],
  ['slashEpoch', 'SlashEpoch', chainEpoch],
  ['verifiedClaim', 'VerifiedClaim', uint, { from: 9, until: 12 }],
])
export const dealState: Codec<DealState> = dealStateAt(18)
