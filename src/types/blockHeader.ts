/**
 * Block headers.
 * @see lotus chain/types/blockheader.go
 */

import { bigInt } from '../codec/bigInteger.ts'
import type { Cid } from '../codec/cid.ts'
import { bytes, type Codec, cid, encode, int, list, listOrEmpty, nullable, tuple, uint } from '../codec/description.ts'
import { blockCid } from '../crypto/blockCid.ts'
import { type Address, address } from './address.ts'
import { type ChainEpoch, chainEpoch, type TokenAmount, tokenAmount } from './scalars.ts'
import { type Signature, signature } from './signature.ts'

/** A VRF's proof, a BLS signature (96 bytes) with the producer's worker key; the block of the smallest hash leads its tipset. */
export interface Ticket {
  readonly vrfProof: Uint8Array
}

/** How often a producer won at an epoch (0: it did not), and the VRF's proof (96 bytes) from which that follows. */
export interface ElectionProof {
  readonly winCount: number
  readonly vrfProof: Uint8Array
}

/** A round of drand and its BLS signature: 96 bytes, since quicknet (Phoenix, shortly after network version 22, FIP-0063) 48. */
export interface BeaconEntry {
  readonly round: number
  readonly data: Uint8Array
}

/** A proof of spacetime: Groth16, 192 bytes for each partition. @see go-state-types proof/proof_types.go PoStProof */
export interface PoStProof {
  /** Registered proof type. */
  readonly postProof: number
  readonly proofBytes: Uint8Array
}

/** A block without its messages; its parents' results stand in it, its own in its children. */
export interface BlockHeader {
  readonly miner: Address
  readonly ticket: Ticket | null
  readonly electionProof: ElectionProof | null
  readonly beaconEntries: BeaconEntry[]
  readonly winPoStProof: PoStProof[]
  /** Key of the parent tipset, in its order. */
  readonly parents: Cid[]
  readonly parentWeight: bigint
  readonly height: ChainEpoch
  /** Result of executing the parent tipset. */
  readonly parentStateRoot: Cid
  readonly parentMessageReceipts: Cid
  /** CID of the MsgMeta. */
  readonly messages: Cid
  readonly blsAggregate: Signature | null
  /** Unix time, seconds. */
  readonly timestamp: number
  readonly blockSig: Signature | null
  readonly forkSignaling: number
  readonly parentBaseFee: TokenAmount
}

/** Bound of cbor-gen for the lists of a header. */
const MAX_ITEMS = 8192

export const ticket: Codec<Ticket> = tuple<Ticket>('types.Ticket', [['vrfProof', 'VRFProof', bytes]])

export const electionProof: Codec<ElectionProof> = tuple<ElectionProof>('types.ElectionProof', [
  ['winCount', 'WinCount', int],
  ['vrfProof', 'VRFProof', bytes],
])

export const beaconEntry: Codec<BeaconEntry> = tuple<BeaconEntry>('types.BeaconEntry', [
  ['round', 'Round', uint],
  ['data', 'Data', bytes],
])

export const poStProof: Codec<PoStProof> = tuple<PoStProof>('proof.PoStProof', [
  ['postProof', 'PoStProof', int],
  ['proofBytes', 'ProofBytes', bytes],
])

/** CBOR array of 16. A decoded header encodes to the same bytes; genesis' nulls and empty strings included. */
export const blockHeader: Codec<BlockHeader> = tuple<BlockHeader>('types.BlockHeader', [
  ['miner', 'Miner', address],
  ['ticket', 'Ticket', nullable(ticket)],
  ['electionProof', 'ElectionProof', nullable(electionProof)],
  ['beaconEntries', 'BeaconEntries', list(beaconEntry, MAX_ITEMS)],
  ['winPoStProof', 'WinPoStProof', list(poStProof, MAX_ITEMS)],
  ['parents', 'Parents', listOrEmpty(cid, MAX_ITEMS)],
  ['parentWeight', 'ParentWeight', bigInt],
  ['height', 'Height', chainEpoch],
  ['parentStateRoot', 'ParentStateRoot', cid],
  ['parentMessageReceipts', 'ParentMessageReceipts', cid],
  ['messages', 'Messages', cid],
  ['blsAggregate', 'BLSAggregate', nullable(signature)],
  ['timestamp', 'Timestamp', uint],
  ['blockSig', 'BlockSig', nullable(signature)],
  ['forkSignaling', 'ForkSignaling', uint],
  ['parentBaseFee', 'ParentBaseFee', tokenAmount],
])

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
