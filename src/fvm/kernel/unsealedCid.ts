/**
 * The commitment to a sector's unsealed data out of its pieces: a binary Merkle tree of SHA-256 with the last two bits of
 * every node cleared, each piece a subtree, gaps filled with trees of zeros.
 * @see ref-fvm fvm/src/kernel/filecoin.rs compute_unsealed_sector_cid; rust-filecoin-proofs pieces.rs compute_comm_d
 */
import { type Cid, CODEC_FIL_COMMITMENT_UNSEALED, createCid, HASH_SHA2_256_TRUNC254_PADDED } from '../../codec/cid.ts'
import { type Codec, cid, decode, list, tuple, u64 } from '../../codec/description.ts'
import { sha256 } from '../../crypto/hashes.ts'
import { Errno, SyscallError } from './outcomes.ts'

const NODE = 32
/** Smallest padded piece, bytes. */
const MIN_PIECE = 128n

interface PieceInfo {
  /** Padded bytes, a power of two. */
  readonly size: bigint
  readonly cid: Cid
}

const pieceInfos: Codec<PieceInfo[]> = list(
  tuple<PieceInfo>('abi.PieceInfo', [
    ['size', 'Size', u64],
    ['cid', 'PieceCID', cid],
  ]),
)

/** Sector sizes by seal proof type modulo 5. */
const SECTOR_SIZES = [2048n, 2n ** 23n, 2n ** 29n, 2n ** 35n, 2n ** 36n]
/** V1, V1_1, synthetic, non-interactive: five sizes each. */
const PROOF_TYPES = 20n

function illegal(message: string): SyscallError {
  return new SyscallError(Errno.IllegalArgument, message)
}

function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  const input = new Uint8Array(2 * NODE)
  input.set(left)
  input.set(right, NODE)
  const digest = sha256(input).slice()
  digest[NODE - 1] = (digest[NODE - 1] as number) & 0x3f
  return digest
}

/** Commitment of `size` bytes of zeros. */
function zeroCommitment(size: bigint): Uint8Array {
  let node: Uint8Array = new Uint8Array(NODE)
  for (let covered = BigInt(NODE); covered < size; covered *= 2n) node = hashPair(node, node)
  return node
}

interface Subtree {
  readonly size: bigint
  readonly commitment: Uint8Array
}

/** Adds a subtree; equal neighbours join. */
function push(stack: Subtree[], subtree: Subtree): void {
  let top = subtree
  for (let last = stack.at(-1); last !== undefined && last.size === top.size; last = stack.at(-1)) {
    stack.pop()
    top = { size: top.size * 2n, commitment: hashPair(last.commitment, top.commitment) }
  }
  stack.push(top)
}

/** Fills up with zeros until the offset is a multiple of `alignment`. */
function pad(stack: Subtree[], offset: bigint, alignment: bigint): bigint {
  let sum = offset
  let gap = (alignment - (sum % alignment)) % alignment
  for (let size = 1n; gap > 0n; size *= 2n) {
    if ((gap & size) === 0n) continue
    push(stack, { size, commitment: zeroCommitment(size) })
    gap -= size
    sum += size
  }
  return sum
}

/**
 * @param pieces - CBOR list of [padded size, piece CID]
 * @param charge - called once the arguments are decoded
 * @throws SyscallError IllegalArgument
 */
export function computeUnsealedCid(proofType: bigint, pieces: Uint8Array, charge: () => void): Cid {
  if (proofType < 0n || proofType >= PROOF_TYPES) throw illegal(`invalid proof type ${proofType}`)
  let infos: PieceInfo[]
  try {
    infos = decode(pieceInfos, pieces.slice())
  } catch (error) {
    throw illegal((error as Error).message)
  }
  charge()
  const sectorSize = SECTOR_SIZES[Number(proofType % 5n)] as bigint
  const stack: Subtree[] = []
  let sum = 0n
  for (const { size, cid: pieceCid } of infos) {
    if (size < MIN_PIECE || (size & (size - 1n)) !== 0n) throw illegal(`invalid piece size ${size}`)
    if (pieceCid.codec !== CODEC_FIL_COMMITMENT_UNSEALED || pieceCid.hashCode !== HASH_SHA2_256_TRUNC254_PADDED) {
      throw illegal('piece CID is no unsealed commitment')
    }
    sum = pad(stack, sum, size) + size
    push(stack, { size, commitment: pieceCid.digest })
    if (sum > sectorSize) throw illegal('pieces exceed the sector')
  }
  const commitment = infos.length === 0 ? zeroCommitment(sectorSize) : finish(stack, sum, sectorSize)
  return createCid(CODEC_FIL_COMMITMENT_UNSEALED, HASH_SHA2_256_TRUNC254_PADDED, commitment)
}

function finish(stack: Subtree[], sum: bigint, sectorSize: bigint): Uint8Array {
  pad(stack, sum, sectorSize)
  const [root] = stack
  if (stack.length !== 1 || root === undefined || root.size !== sectorSize) {
    throw illegal('pieces do not fill the sector')
  }
  return root.commitment
}
