/** How long sectors live: extensions, terminations, compaction, what others ask about them. @see go-state-types builtin/v9 … v18/miner */
import { bool, bytes, type Codec, list, tuple, uint } from '../../../codec/description.ts'
import { type BitField, bitField } from '../../../ipld/bitfield.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../../../types/scalars.ts'
import { type SectorNumber, type StoragePower, sectorNumber, storagePower } from '../../scalars.ts'

export interface ExpirationExtension {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
  readonly newExpiration: ChainEpoch
}

export const expirationExtension: Codec<ExpirationExtension> = tuple<ExpirationExtension>('miner.ExpirationExtension', [
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['sectors', 'Sectors', bitField],
  ['newExpiration', 'NewExpiration', chainEpoch],
])

export interface ExtendSectorExpirationParams {
  readonly extensions: ExpirationExtension[]
}

export const extendSectorExpirationParams: Codec<ExtendSectorExpirationParams> = tuple<ExtendSectorExpirationParams>(
  'miner.ExtendSectorExpirationParams',
  [['extensions', 'Extensions', list(expirationExtension)]],
)

export interface TerminationDeclaration {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
}

export const terminationDeclaration: Codec<TerminationDeclaration> = tuple<TerminationDeclaration>(
  'miner.TerminationDeclaration',
  [
    ['deadline', 'Deadline', uint],
    ['partition', 'Partition', uint],
    ['sectors', 'Sectors', bitField],
  ],
)

export interface TerminateSectorsParams {
  readonly terminations: TerminationDeclaration[]
}

export const terminateSectorsParams: Codec<TerminateSectorsParams> = tuple<TerminateSectorsParams>(
  'miner.TerminateSectorsParams',
  [['terminations', 'Terminations', list(terminationDeclaration)]],
)

export interface TerminateSectorsReturn {
  readonly done: boolean
}

export const terminateSectorsReturn: Codec<TerminateSectorsReturn> = tuple<TerminateSectorsReturn>(
  'miner.TerminateSectorsReturn',
  [['done', 'Done', bool]],
)

export interface CheckSectorProvenParams {
  readonly sectorNumber: SectorNumber
}

export const checkSectorProvenParams: Codec<CheckSectorProvenParams> = tuple<CheckSectorProvenParams>(
  'miner.CheckSectorProvenParams',
  [['sectorNumber', 'SectorNumber', sectorNumber]],
)

export interface CompactPartitionsParams {
  readonly deadline: number
  readonly partitions: BitField
}

export const compactPartitionsParams: Codec<CompactPartitionsParams> = tuple<CompactPartitionsParams>(
  'miner.CompactPartitionsParams',
  [
    ['deadline', 'Deadline', uint],
    ['partitions', 'Partitions', bitField],
  ],
)

export interface CompactSectorNumbersParams {
  readonly maskSectorNumbers: BitField
}

export const compactSectorNumbersParams: Codec<CompactSectorNumbersParams> = tuple<CompactSectorNumbersParams>(
  'miner.CompactSectorNumbersParams',
  [['maskSectorNumbers', 'MaskSectorNumbers', bitField]],
)

export interface SectorClaim {
  readonly sectorNumber: SectorNumber
  readonly maintainClaims: number[]
  readonly dropClaims: number[]
}

export const sectorClaim: Codec<SectorClaim> = tuple<SectorClaim>('miner.SectorClaim', [
  ['sectorNumber', 'SectorNumber', sectorNumber],
  ['maintainClaims', 'MaintainClaims', list(uint)],
  ['dropClaims', 'DropClaims', list(uint)],
])

export interface ExpirationExtension2 {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
  readonly sectorsWithClaims: SectorClaim[]
  readonly newExpiration: ChainEpoch
}

export const expirationExtension2: Codec<ExpirationExtension2> = tuple<ExpirationExtension2>(
  'miner.ExpirationExtension2',
  [
    ['deadline', 'Deadline', uint],
    ['partition', 'Partition', uint],
    ['sectors', 'Sectors', bitField],
    ['sectorsWithClaims', 'SectorsWithClaims', list(sectorClaim)],
    ['newExpiration', 'NewExpiration', chainEpoch],
  ],
)

export interface ExtendSectorExpiration2Params {
  readonly extensions: ExpirationExtension2[]
}

export const extendSectorExpiration2Params: Codec<ExtendSectorExpiration2Params> = tuple<ExtendSectorExpiration2Params>(
  'miner.ExtendSectorExpiration2Params',
  [['extensions', 'Extensions', list(expirationExtension2)]],
)

export interface MaxTerminationFeeParams {
  readonly power: StoragePower
  readonly initialPledge: TokenAmount
}

export const maxTerminationFeeParams: Codec<MaxTerminationFeeParams> = tuple<MaxTerminationFeeParams>(
  'miner.MaxTerminationFeeParams',
  [
    ['power', 'Power', storagePower],
    ['initialPledge', 'InitialPledge', tokenAmount],
  ],
)

export interface GenerateSectorLocationParams {
  readonly sectorNumber: SectorNumber
}

export const generateSectorLocationParams: Codec<GenerateSectorLocationParams> = tuple<GenerateSectorLocationParams>(
  'miner.GenerateSectorLocationParams',
  [['sectorNumber', 'SectorNumber', sectorNumber]],
)

export interface GenerateSectorLocationReturn {
  readonly status: number
  readonly auxData: Uint8Array
}

export const generateSectorLocationReturn: Codec<GenerateSectorLocationReturn> = tuple<GenerateSectorLocationReturn>(
  'miner.GenerateSectorLocationReturn',
  [
    ['status', 'Status', uint],
    ['auxData', 'AuxData', bytes],
  ],
)

export interface ValidateSectorStatusParams {
  readonly sectorNumber: SectorNumber
  readonly status: number
  readonly auxData: Uint8Array
}

export const validateSectorStatusParams: Codec<ValidateSectorStatusParams> = tuple<ValidateSectorStatusParams>(
  'miner.ValidateSectorStatusParams',
  [
    ['sectorNumber', 'SectorNumber', sectorNumber],
    ['status', 'Status', uint],
    ['auxData', 'AuxData', bytes],
  ],
)
