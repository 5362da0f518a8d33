/**
 * Descriptions of proofs as actors pass them, in the terms of `proofs/`.
 * @see ref-fvm fvm/src/kernel/filecoin.rs verify_post, verify_seal, verify_aggregate_seals, verify_replica_update;
 *   shared/src/sector/post.rs, seal.rs
 */
import { CborReader } from '../codec/cborReader.ts'
import { type AggregateSeals, aggregationVersion } from '../proofs/aggregate/aggregateSeals.ts'
import { dataCommitment, replicaCommitment } from '../proofs/commitment.ts'
import { ProofError } from '../proofs/errors.ts'
import type { PoStStatement } from '../proofs/post/sectors.ts'
import type { SealStatement } from '../proofs/seal/sealInputs.ts'
import type { UpdateStatement } from '../proofs/update.ts'
import { idAddress } from '../types/address.ts'

const RANDOMNESS_LENGTH = 32

/** A statement with the bytes that are to prove it. */
export interface Proven<T> {
  readonly statement: T
  readonly proof: Uint8Array
}

/** Payload of a miner's ID address, padded with zeros to 32 bytes. */
export function proverId(miner: bigint): Uint8Array {
  const id = new Uint8Array(32)
  id.set(idAddress(miner).payload)
  return id
}

/** Randomness as a field element: the top two bits are cleared. @throws ProofError `INVALID_INPUT` unless 32 bytes */
function poStRandomness(randomness: Uint8Array): Uint8Array {
  const masked = randomness32(randomness).slice()
  masked[31] = (masked[31] as number) & 0x3f
  return masked
}

function randomness32(randomness: Uint8Array): Uint8Array {
  if (randomness.length !== RANDOMNESS_LENGTH) {
    throw new ProofError('INVALID_INPUT', `Cannot use randomness: ${randomness.length} bytes, expected 32`)
  }
  return randomness
}

function readList<T>(reader: CborReader, read: () => T): T[] {
  return Array.from({ length: reader.readArray() }, read)
}

/** The number of a registered type; one that is out of range is no type. */
function readType(reader: CborReader): number {
  return Number(reader.readInt())
}

/**
 * A WindowPoStVerifyInfo: [randomness, proofs, sectors, prover].
 * @throws ProofError `INVALID_COUNT` unless there is exactly one proof; CodecError
 */
export function readWindowPoSt(info: Uint8Array): Proven<PoStStatement> {
  const reader = new CborReader(info)
  reader.readArray()
  const randomness = poStRandomness(reader.readBytes())
  const proofs = readList(reader, () => {
    reader.readArray()
    return { type: readType(reader), bytes: reader.readBytes() }
  })
  const [first] = proofs
  if (first === undefined || proofs.length > 1) {
    throw new ProofError('INVALID_COUNT', `Cannot verify: ${proofs.length} proofs, expected one`)
  }
  const sectors = readList(reader, () => {
    reader.readArray()
    // The kernel has compared it with the proof's type.
    readType(reader)
    const number = reader.readUint()
    return { number, commR: replicaCommitment(reader.readCid()) }
  })
  const prover = proverId(reader.readUint())
  return { statement: { proofType: first.type, randomness, proverId: prover, sectors }, proof: first.bytes }
}

/** A SealVerifyInfo: [type, [miner, number], deals, ticket, seed, proof, sealed, unsealed]. */
export function readSeal(info: Uint8Array): Proven<SealStatement> & { readonly proofType: number } {
  const reader = new CborReader(info)
  reader.readArray()
  const proofType = readType(reader)
  reader.readArray()
  const prover = proverId(reader.readUint())
  const sectorNumber = reader.readUint()
  reader.skip()
  const ticket = randomness32(reader.readBytes())
  const seed = randomness32(reader.readBytes())
  const proof = reader.readBytes()
  const commR = replicaCommitment(reader.readCid())
  const commD = dataCommitment(reader.readCid())
  return { proofType, statement: { proverId: prover, sectorNumber, ticket, seed, commR, commD }, proof }
}

/** An AggregateSealVerifyProofAndInfos: [miner, seal type, aggregation type, proof, infos]. */
export function readAggregate(info: Uint8Array): Proven<AggregateSeals> {
  const reader = new CborReader(info)
  reader.readArray()
  const prover = proverId(reader.readUint())
  const sealType = readType(reader)
  const aggregation = aggregationVersion(readType(reader))
  const proof = reader.readBytes()
  const seals = readList(reader, () => {
    reader.readArray()
    const sectorNumber = reader.readUint()
    const ticket = randomness32(reader.readBytes())
    const seed = randomness32(reader.readBytes())
    const commR = replicaCommitment(reader.readCid())
    const commD = dataCommitment(reader.readCid())
    return { proverId: prover, sectorNumber, ticket, seed, commR, commD }
  })
  return { statement: { sealType, aggregation, seals }, proof }
}

/** A ReplicaUpdateInfo: [type, old sealed, new sealed, new unsealed, proof]. */
export function readReplicaUpdate(info: Uint8Array): Proven<UpdateStatement> {
  const reader = new CborReader(info)
  reader.readArray()
  const proofType = readType(reader)
  const oldCommR = replicaCommitment(reader.readCid())
  const newCommR = replicaCommitment(reader.readCid())
  const newCommD = dataCommitment(reader.readCid())
  return { statement: { proofType, oldCommR, newCommR, newCommD }, proof: reader.readBytes() }
}
