/** How long sectors live: extensions, terminations, compaction, what others ask about them. @see go-state-types builtin/v9 … v18/miner */
import { bool, bytes, type Codec, list, tuple, uint } from '../../../codec/description.ts'
import { type BitField, bitField } from '../../../ipld/bitfield.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from '../../../types/scalars.ts'
import { type SectorNumber, type StoragePower, sectorNumber, storagePower } from '../../scalars.ts'

interface ExpirationExtension {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
  readonly newExpiration: ChainEpoch
}

const expirationExtension: Codec<ExpirationExtension> = tuple<ExpirationExtension>('miner.ExpirationExtension', [
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['sectors', 'Sectors', bitField],
  ['newExpiration', 'NewExpiration', chainEpoch],
])

interface ExtendSectorExpirationParams {
  readonly extensions: ExpirationExtension[]
}

/** Sectors by deadline and partition, with the epoch they are to last to; up to v16. */
export const extendSectorExpirationParams: Codec<ExtendSectorExpirationParams> = tuple<ExtendSectorExpirationParams>(
  'miner.ExtendSectorExpirationParams',
  [['extensions', 'Extensions', list(expirationExtension)]],
)

interface TerminationDeclaration {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
}

const terminationDeclaration: Codec<TerminationDeclaration> = tuple<TerminationDeclaration>(
  'miner.TerminationDeclaration',
  [
    ['deadline', 'Deadline', uint],
    ['partition', 'Partition', uint],
    ['sectors', 'Sectors', bitField],
  ],
)

interface TerminateSectorsParams {
  readonly terminations: TerminationDeclaration[]
}

/** Sectors to end now against a fee, by deadline and partition. */
export const terminateSectorsParams: Codec<TerminateSectorsParams> = tuple<TerminateSectorsParams>(
  'miner.TerminateSectorsParams',
  [['terminations', 'Terminations', list(terminationDeclaration)]],
)

interface TerminateSectorsReturn {
  readonly done: boolean
}

/** `[done]`: false while cron still has terminations to work off; nothing can be withdrawn until then. */
export const terminateSectorsReturn: Codec<TerminateSectorsReturn> = tuple<TerminateSectorsReturn>(
  'miner.TerminateSectorsReturn',
  [['done', 'Done', bool]],
)

interface CheckSectorProvenParams {
  readonly sectorNumber: SectorNumber
}

/** `[sectorNumber]`: the method fails unless that sector is proven. */
export const checkSectorProvenParams: Codec<CheckSectorProvenParams> = tuple<CheckSectorProvenParams>(
  'miner.CheckSectorProvenParams',
  [['sectorNumber', 'SectorNumber', sectorNumber]],
)

interface CompactPartitionsParams {
  readonly deadline: number
  readonly partitions: BitField
}

/** Partitions of a deadline whose dead sectors are dropped, and whose others move together. */
export const compactPartitionsParams: Codec<CompactPartitionsParams> = tuple<CompactPartitionsParams>(
  'miner.CompactPartitionsParams',
  [
    ['deadline', 'Deadline', uint],
    ['partitions', 'Partitions', bitField],
  ],
)

interface CompactSectorNumbersParams {
  readonly maskSectorNumbers: BitField
}

/** `[maskSectorNumbers]`: numbers never to be used again, so that the bit field of used ones gets shorter. */
export const compactSectorNumbersParams: Codec<CompactSectorNumbersParams> = tuple<CompactSectorNumbersParams>(
  'miner.CompactSectorNumbersParams',
  [['maskSectorNumbers', 'MaskSectorNumbers', bitField]],
)

interface SectorClaim {
  readonly sectorNumber: SectorNumber
  readonly maintainClaims: number[]
  readonly dropClaims: number[]
}

const sectorClaim: Codec<SectorClaim> = tuple<SectorClaim>('miner.SectorClaim', [
  ['sectorNumber', 'SectorNumber', sectorNumber],
  ['maintainClaims', 'MaintainClaims', list(uint)],
  ['dropClaims', 'DropClaims', list(uint)],
])

interface ExpirationExtension2 {
  readonly deadline: number
  readonly partition: number
  readonly sectors: BitField
  readonly sectorsWithClaims: SectorClaim[]
  readonly newExpiration: ChainEpoch
}

const expirationExtension2: Codec<ExpirationExtension2> = tuple<ExpirationExtension2>('miner.ExpirationExtension2', [
  ['deadline', 'Deadline', uint],
  ['partition', 'Partition', uint],
  ['sectors', 'Sectors', bitField],
  ['sectorsWithClaims', 'SectorsWithClaims', list(sectorClaim)],
  ['newExpiration', 'NewExpiration', chainEpoch],
])

interface ExtendSectorExpiration2Params {
  readonly extensions: ExpirationExtension2[]
}

/** As {@link ExtendSectorExpirationParams}, saying of sectors with claims which of those go on and which are dropped. */
export const extendSectorExpiration2Params: Codec<ExtendSectorExpiration2Params> = tuple<ExtendSectorExpiration2Params>(
  'miner.ExtendSectorExpiration2Params',
  [['extensions', 'Extensions', list(expirationExtension2)]],
)

interface MaxTerminationFeeParams {
  readonly power: StoragePower
  readonly initialPledge: TokenAmount
}

/** A sector's power by quality (bytes) and pledge (attoFIL), for which the highest fee is asked; v16 on. */
export const maxTerminationFeeParams: Codec<MaxTerminationFeeParams> = tuple<MaxTerminationFeeParams>(
  'miner.MaxTerminationFeeParams',
  [
    ['power', 'Power', storagePower],
    ['initialPledge', 'InitialPledge', tokenAmount],
  ],
)

interface GenerateSectorLocationParams {
  readonly sectorNumber: SectorNumber
}

/** `[sectorNumber]`; v18 on. The answer is what {@link ValidateSectorStatusParams} takes. */
export const generateSectorLocationParams: Codec<GenerateSectorLocationParams> = tuple<GenerateSectorLocationParams>(
  'miner.GenerateSectorLocationParams',
  [['sectorNumber', 'SectorNumber', sectorNumber]],
)

interface GenerateSectorLocationReturn {
  readonly status: number
  readonly auxData: Uint8Array
}

/** Status 0 dead, 1 active, 2 faulty; `auxData` is CBOR of `[deadline, partition]`, -1 for none. v18 on. */
export const generateSectorLocationReturn: Codec<GenerateSectorLocationReturn> = tuple<GenerateSectorLocationReturn>(
  'miner.GenerateSectorLocationReturn',
  [
    ['status', 'Status', uint],
    ['auxData', 'AuxData', bytes],
  ],
)

interface ValidateSectorStatusParams {
  readonly sectorNumber: SectorNumber
  readonly status: number
  readonly auxData: Uint8Array
}

/** A sector, a status (0 dead, 1 active, 2 faulty) that is claimed, and where to look; v18 on. */
export const validateSectorStatusParams: Codec<ValidateSectorStatusParams> = tuple<ValidateSectorStatusParams>(
  'miner.ValidateSectorStatusParams',
  [
    ['sectorNumber', 'SectorNumber', sectorNumber],
    ['status', 'Status', uint],
    ['auxData', 'AuxData', bytes],
  ],
)
