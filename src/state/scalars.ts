/**
 * Types that many actors' states and parameters share.
 * @see go-state-types abi, builtin/v18/util/smoothing
 */

import { bigInt } from '../codec/bigInteger.ts'
import type { CborReader } from '../codec/cborReader.ts'
import { type Codec, int, type Json, transparent, tuple, u64, uint } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { named, wrongJson } from '../codec/goJson.ts'
import { type WideNumber, wideNumber } from '../ipld/wideNumber.ts'

/** Bytes of storage, raw or quality adjusted. */
export type StoragePower = bigint

/** Unique within one miner, which chooses it: below 2^63. */
export type SectorNumber = WideNumber

/** Unique within the market, which gives them in order. */
export type DealId = number

/** Bytes, of any size. */
export const storagePower: Codec<StoragePower> = bigInt
export const sectorNumber: Codec<SectorNumber> = named(transparent(u64, wideNumber, BigInt), 'abi.SectorNumber')
/** Bytes: 2 KiB, 8 MiB, 512 MiB, 32 or 64 GiB. */
export const sectorSize: Codec<number> = named(uint, 'abi.SectorSize')
/** Bytes with the padding of Fr32: a power of two, 128 at least. */
export const paddedPieceSize: Codec<number> = named(uint, 'abi.PaddedPieceSize')
export const dealId: Codec<DealId> = named(uint, 'abi.DealID')
/** Kind of a seal, by number; see {@link sealProofSectorSize}. */
export const registeredSealProof: Codec<number> = named(int, 'abi.RegisteredSealProof')
/** Kind of a proof of spacetime, by number: winning or window, and the size of its sectors. */
export const registeredPoStProof: Codec<number> = named(int, 'abi.RegisteredPoStProof')
/** Kind of the proof of a replica update, by number. */
export const registeredUpdateProof: Codec<number> = named(int, 'abi.RegisteredUpdateProof')
/** Kind of an aggregate of seals, by number: 0 SnarkPack version 1, 1 version 2. */
export const registeredAggregationProof: Codec<number> = named(int, 'abi.RegisteredAggregationProof')

/** Sector sizes, bytes, in the order in which each kind of seal proof counts them. */
const SECTOR_SIZES = [2 ** 11, 2 ** 23, 2 ** 29, 2 ** 35, 2 ** 36] as const
/** V1, V1_1, synthetic and non-interactive proofs. */
const SEAL_PROOFS = 4 * SECTOR_SIZES.length

/** Bytes of a sector of a seal proof; undefined: no such proof. @see go-state-types abi/sector.go SealProofInfos */
export function sealProofSectorSize(sealProof: number): number | undefined {
  return sealProof >= 0 && sealProof < SEAL_PROOFS ? SECTOR_SIZES[sealProof % SECTOR_SIZES.length] : undefined
}

/** An alpha-beta filter: estimate and its change per epoch, both with 128 binary digits behind the point. */
export interface FilterEstimate {
  readonly positionEstimate: bigint
  readonly velocityEstimate: bigint
}

export const filterEstimate: Codec<FilterEstimate> = tuple<FilterEstimate>('smoothing.FilterEstimate', [
  ['positionEstimate', 'PositionEstimate', bigInt],
  ['velocityEstimate', 'VelocityEstimate', bigInt],
])

/** Raw and quality adjusted power. */
export interface PowerPair {
  readonly raw: StoragePower
  readonly qa: StoragePower
}

export const powerPair: Codec<PowerPair> = tuple<PowerPair>('miner.PowerPair', [
  ['raw', 'Raw', storagePower],
  ['qa', 'QA', storagePower],
])

/** Go's `[n]byte`: CBOR byte string of that length, JSON array of numbers. */
export function byteArray(length: number): Codec<Uint8Array> {
  const name = `[${length}]uint8`
  const check = (value: Uint8Array): Uint8Array => {
    if (value.length !== length) throw new CodecError('WRONG_LENGTH', `expected array to have ${length} elements`)
    return value
  }
  return {
    name,
    write: (writer, value) => writer.bytes(check(value)),
    read: (reader: CborReader) => check(reader.readBytes()),
    toJson: (value) => [...value],
    fromJson: (json: Json | undefined) => {
      const out = new Uint8Array(length)
      if (json === undefined || json === null) return out
      if (!Array.isArray(json)) throw wrongJson(json, name)
      for (let i = 0; i < Math.min(length, json.length); i++) {
        const byte = json[i] as Json
        if (typeof byte !== 'number' || !Number.isInteger(byte) || byte < 0 || byte > 255)
          throw wrongJson(byte, 'uint8')
        out[i] = byte
      }
      return out
    },
    schema: { type: 'array', items: { type: 'integer' }, minItems: length, maxItems: length },
  }
}
