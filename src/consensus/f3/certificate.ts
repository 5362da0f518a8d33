/**
 * Finality certificates of F3 as they stand on the wire, in the store and in JSON.
 * @see go-f3 certs/certs.go FinalityCertificate, gpbft/chain.go TipSet, gpbft/types.go SupplementalData
 */

import { bigInt } from '../../codec/bigInteger.ts'
import type { Cid } from '../../codec/cid.ts'
import {
  bytes,
  type Codec,
  cid,
  int,
  type Json,
  type JsonContext,
  list,
  listOrEmpty,
  tuple,
  uint,
} from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { type BitField, bitField } from '../../ipld/bitfield.ts'
import { type Tipset, type TipsetKey, tipsetKey, tipsetKeyBytes, tipsetKeyFromBytes } from '../../types/tipset.ts'

/** Most tipsets of a chain, the base included. */
export const MAX_CHAIN_LENGTH = 128
/** Longest key of a tipset: 20 CIDs, bytes. */
export const MAX_TIPSET_KEY_BYTES = 760
/** Bound of cbor-gen for lists. */
const MAX_ITEMS = 8192
const HASH_BYTES = 32
const MAX_PUBLIC_KEY_BYTES = 48

/** Of a tipset and of a certificate: nobody commits to anything so far. */
export const NO_COMMITMENTS: Uint8Array = new Uint8Array(HASH_BYTES)

/** A tipset that F3 decided about. */
export interface F3Tipset {
  readonly epoch: number
  /** CIDs of its blocks in its order, the bytes one after the other. */
  readonly key: Uint8Array
  /** CID of the power table of the state that it builds on. */
  readonly powerTable: Cid
  /** 32 bytes; zeros so far. */
  readonly commitments: Uint8Array
}

/** What a certificate says beside its chain. */
export interface SupplementalData {
  /** 32 bytes; zeros so far. */
  readonly commitments: Uint8Array
  /** CID of the power table that signs the next instance. */
  readonly powerTable: Cid
}

/** A change of one participant's power. */
export interface PowerTableDelta {
  /** Actor ID. */
  readonly participantId: number
  /** Bytes of quality-adjusted power, with sign. */
  readonly powerDelta: bigint
  /** The new BLS key, 48 bytes; empty: it stays. */
  readonly signingKey: Uint8Array
}

/** Proof that two thirds of the power decided on a chain. */
export interface FinalityCertificate {
  readonly instance: number
  /** The head of the certificate before, then what is newly final. */
  readonly ecChain: F3Tipset[]
  readonly supplementalData: SupplementalData
  /** Indices into the instance's power table. */
  readonly signers: BitField
  /** BLS aggregate, 96 bytes. */
  readonly signature: Uint8Array
  /** From this instance's power table to the next one's, by participant. */
  readonly powerTableDelta: PowerTableDelta[]
}

/** Byte string of at most (or of exactly) so many bytes. */
function bounded(max: number, exact: boolean): Codec<Uint8Array> {
  return {
    ...bytes,
    read: (reader) => {
      const value = reader.readBytes()
      if (value.length > max) throw new CodecError('TOO_LARGE', `byte array too large (${value.length})`)
      if (exact && value.length !== max) throw new CodecError('WRONG_LENGTH', `expected array to have ${max} elements`)
      return value
    },
  }
}

const hash = bounded(HASH_BYTES, true)
/** 48 bytes, or none. */
export const f3PublicKey: Codec<Uint8Array> = bounded(MAX_PUBLIC_KEY_BYTES, false)

/** CBOR byte string; JSON list of CIDs. */
const keyBytes: Codec<Uint8Array> = {
  ...bounded(MAX_TIPSET_KEY_BYTES, false),
  toJson: (value, context) => tipsetKey.toJson(tipsetKeyFromBytes(value), context),
  fromJson: (value, context) => tipsetKeyBytes(tipsetKey.fromJson(value, context)),
  schema: tipsetKey.schema,
}

export const f3Tipset: Codec<F3Tipset> = tuple<F3Tipset>('gpbft.TipSet', [
  ['epoch', 'Epoch', int],
  ['key', 'Key', keyBytes],
  ['powerTable', 'PowerTable', cid],
  ['commitments', 'Commitments', hash],
])

const supplementalData: Codec<SupplementalData> = tuple<SupplementalData>('gpbft.SupplementalData', [
  ['commitments', 'Commitments', hash],
  ['powerTable', 'PowerTable', cid],
])

export const powerTableDelta: Codec<PowerTableDelta> = tuple<PowerTableDelta>('certs.PowerTableDelta', [
  ['participantId', 'ParticipantID', uint],
  ['powerDelta', 'PowerDelta', bigInt],
  ['signingKey', 'SigningKey', f3PublicKey],
])

const certificate: Codec<FinalityCertificate> = tuple<FinalityCertificate>('certs.FinalityCertificate', [
  ['instance', 'GPBFTInstance', uint],
  ['ecChain', 'ECChain', list(f3Tipset, MAX_CHAIN_LENGTH)],
  ['supplementalData', 'SupplementalData', supplementalData],
  ['signers', 'Signers', bitField],
  ['signature', 'Signature', bytes],
  ['powerTableDelta', 'PowerTableDelta', listOrEmpty(powerTableDelta, MAX_ITEMS)],
])

/** CBOR array of 6; JSON leaves an empty delta out. */
export const finalityCertificate: Codec<FinalityCertificate> = {
  ...certificate,
  toJson: (value: FinalityCertificate, context: JsonContext): Json => {
    const out = certificate.toJson(value, context) as { [key: string]: Json }
    if (value.powerTableDelta.length === 0) delete out.PowerTableDelta
    return out
  },
}

/** What a chain says of a tipset. @param powerTable - of the state that it builds on */
export function f3TipsetOf({ height, key }: Tipset, powerTable: Cid): F3Tipset {
  return { epoch: height, key: tipsetKeyBytes(key), powerTable, commitments: NO_COMMITMENTS }
}

/** The tipset that a chain starts from. */
export function chainBase(decided: FinalityCertificate): F3Tipset {
  return decided.ecChain[0] as F3Tipset
}

/** The newest tipset that a certificate makes final. */
export function chainHead(decided: FinalityCertificate): F3Tipset {
  return decided.ecChain[decided.ecChain.length - 1] as F3Tipset
}

/** Key of the newest tipset that a certificate makes final. @throws CodecError */
export function finalizedKey(decided: FinalityCertificate): TipsetKey {
  return tipsetKeyFromBytes(chainHead(decided).key)
}
