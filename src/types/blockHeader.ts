/**
 * Block headers.
 * @see lotus chain/types/blockheader.go
 */

import { bigInt } from '../codec/bigInteger.ts'
import type { Cid } from '../codec/cid.ts'
import {
  bytesUpTo,
  type Codec,
  cid,
  encode,
  i64,
  int,
  list,
  listOrEmpty,
  nullable,
  tuple,
  u64,
  uint,
} from '../codec/description.ts'
import { named } from '../codec/goJson.ts'
import { blockCid } from '../crypto/blockCid.ts'
import { type Address, address } from './address.ts'
import { MAX_BYTE_STRING } from './protocol.ts'
import { type TokenAmount, tokenAmount } from './scalars.ts'
import { type Signature, signature } from './signature.ts'

/** A VRF's proof, a BLS signature (96 bytes) with the producer's worker key; the block of the smallest hash leads its tipset. */
export interface Ticket {
  readonly vrfProof: Uint8Array
}

/** How often a producer won at an epoch (0: it did not), and the VRF's proof (96 bytes) from which that follows. */
export interface ElectionProof<N = number> {
  readonly winCount: N
  readonly vrfProof: Uint8Array
}

/** A round of drand and its BLS signature: 96 bytes, since quicknet (Phoenix, shortly after network version 22, FIP-0063) 48. */
export interface BeaconEntry<N = number> {
  readonly round: N
  readonly data: Uint8Array
}

/** A proof of spacetime: Groth16, 192 bytes for each partition. @see go-state-types proof/proof_types.go PoStProof */
export interface PoStProof<N = number> {
  /** Registered proof type. */
  readonly postProof: N
  readonly proofBytes: Uint8Array
}

/**
 * A block without its messages; its parents' results stand in it, its own in its children.
 * @typeParam N - `bigint` where nobody has checked the numbers, which may then be any of 64 bits
 */
export interface BlockHeader<N = number> {
  readonly miner: Address
  readonly ticket: Ticket | null
  readonly electionProof: ElectionProof<N> | null
  readonly beaconEntries: BeaconEntry<N>[]
  readonly winPoStProof: PoStProof<N>[]
  /** Key of the parent tipset, in its order. */
  readonly parents: Cid[]
  readonly parentWeight: bigint
  /** Its epoch. */
  readonly height: N
  /** Result of executing the parent tipset. */
  readonly parentStateRoot: Cid
  readonly parentMessageReceipts: Cid
  /** CID of the MsgMeta. */
  readonly messages: Cid
  readonly blsAggregate: Signature | null
  /** Unix time, seconds. */
  readonly timestamp: N
  readonly blockSig: Signature | null
  /** Of no meaning yet: any of 64 bits is valid. */
  readonly forkSignaling: bigint
  readonly parentBaseFee: TokenAmount
}

/** Bound of cbor-gen for the lists of a header. */
const MAX_ITEMS = 8192

const bytes = bytesUpTo(MAX_BYTE_STRING)

export const ticket: Codec<Ticket> = tuple<Ticket>('types.Ticket', [['vrfProof', 'VRFProof', bytes]])

/** The parts of a header that have numbers, and the header. */
function headerCodecs<N extends number | bigint>(signed: Codec<N>, unsigned: Codec<N>) {
  const electionProof = tuple<ElectionProof<N>>('types.ElectionProof', [
    ['winCount', 'WinCount', signed],
    ['vrfProof', 'VRFProof', bytes],
  ])
  const beaconEntry = tuple<BeaconEntry<N>>('types.BeaconEntry', [
    ['round', 'Round', unsigned],
    ['data', 'Data', bytes],
  ])
  const poStProof = tuple<PoStProof<N>>('proof.PoStProof', [
    ['postProof', 'PoStProof', signed],
    ['proofBytes', 'ProofBytes', bytes],
  ])
  const blockHeader = tuple<BlockHeader<N>>('types.BlockHeader', [
    ['miner', 'Miner', address],
    ['ticket', 'Ticket', nullable(ticket)],
    ['electionProof', 'ElectionProof', nullable(electionProof)],
    ['beaconEntries', 'BeaconEntries', list(beaconEntry, MAX_ITEMS)],
    ['winPoStProof', 'WinPoStProof', list(poStProof, MAX_ITEMS)],
    ['parents', 'Parents', listOrEmpty(cid, MAX_ITEMS)],
    ['parentWeight', 'ParentWeight', bigInt],
    ['height', 'Height', named(signed, 'abi.ChainEpoch')],
    ['parentStateRoot', 'ParentStateRoot', cid],
    ['parentMessageReceipts', 'ParentMessageReceipts', cid],
    ['messages', 'Messages', cid],
    ['blsAggregate', 'BLSAggregate', nullable(signature)],
    ['timestamp', 'Timestamp', unsigned],
    ['blockSig', 'BlockSig', nullable(signature)],
    ['forkSignaling', 'ForkSignaling', u64],
    ['parentBaseFee', 'ParentBaseFee', tokenAmount],
  ])
  return { electionProof, beaconEntry, poStProof, blockHeader }
}

const narrow = headerCodecs(int, uint)

export const electionProof: Codec<ElectionProof> = narrow.electionProof

export const beaconEntry: Codec<BeaconEntry> = narrow.beaconEntry

export const poStProof: Codec<PoStProof> = narrow.poStProof

/** CBOR array of 16. A decoded header encodes to the same bytes; genesis' nulls and empty strings included. */
export const blockHeader: Codec<BlockHeader> = narrow.blockHeader

/** {@link blockHeader} with every number that Go's struct can hold. */
export const wideBlockHeader: Codec<BlockHeader<bigint>> = headerCodecs(i64, u64).blockHeader

const cids = new WeakMap<BlockHeader, Cid>()

/** CID of the header, signature included. Remembered per object, headers are immutable. */
export function headerCid(header: BlockHeader): Cid {
  let known = cids.get(header)
  if (known === undefined) {
    known = blockCid(encode(blockHeader, header))
    cids.set(header, known)
  }
  return known
}

/** The bytes that the producer signs: the header without its signature. */
export function headerSigningBytes(header: BlockHeader): Uint8Array {
  return encode(blockHeader, { ...header, blockSig: null })
}
