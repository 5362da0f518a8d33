/**
 * The commitment to a sector's unsealed data out of its pieces: a binary Merkle tree of SHA-256 with the last two bits of
 * every node cleared, each piece a subtree, gaps filled with trees of zeros.
 *
 * Actors check no sizes before they ask, so what the reference's unsigned 64 bits make of strange ones counts: a piece of
 * 2^61 bytes and a sector's size is as good as one of a sector's size.
 * @see ref-fvm fvm/src/kernel/filecoin.rs compute_unsealed_sector_cid, get_required_padding;
 * rust-fil-proofs filecoin-proofs/src/pieces.rs compute_comm_d
 */
import { type Cid, CODEC_FIL_COMMITMENT_UNSEALED, createCid, HASH_SHA2_256_TRUNC254_PADDED } from '../../codec/cid.ts'
import { type Codec, cid, decode, list, tuple, u64 } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { readMachineCid } from '../../codec/machineCid.ts'
import { sha256 } from '../../crypto/hashes.ts'
import { Errno, SyscallError } from './outcomes.ts'

const NODE = 32
const TAG_CID = 42
/** Smallest padded piece, bytes. */
const MIN_PIECE = 128n
/** Sizes of the gaps that have a tree of zeros: 128 bytes times powers of two up to 2^34. @see ref-fvm shared/src/piece/zero.rs */
const ZERO_SIZES = 35

/** A piece as the actor names it. */
interface PieceInfo {
  /** Padded bytes. */
  readonly size: bigint
  readonly cid: Cid
}

/** The machine reads CIDs of wide codes too: they are refused only after the charge. */
const pieceCid: Codec<Cid> = {
  ...cid,
  read: (reader) => {
    if (reader.readTag() !== TAG_CID) throw new CodecError('WRONG_TYPE', 'Cannot read CID: expected tag 42')
    const bytes = reader.readBytes()
    if (bytes[0] !== 0) throw new CodecError('INVALID_CID', 'Cannot read CID: no leading zero byte')
    return readMachineCid(bytes, 1).cid
  },
}

const pieceInfos: Codec<PieceInfo[]> = list(
  tuple<PieceInfo>('abi.PieceInfo', [
    ['size', 'Size', u64],
    ['cid', 'PieceCID', pieceCid],
  ]),
)

/** Sector sizes by seal proof type modulo 5. */
const SECTOR_SIZES = [2048n, 2n ** 23n, 2n ** 29n, 2n ** 35n, 2n ** 36n]
/** V1, V1_1, synthetic, non-interactive: five sizes each. */
const PROOF_TYPES = 20n

function illegal(message: string): SyscallError {
  return new SyscallError(Errno.IllegalArgument, message)
}

/** What a release build keeps of a number. */
function wrap(value: bigint): bigint {
  return BigInt.asUintN(64, value)
}

/** @see ref-fvm shared/src/piece/mod.rs PaddedPieceSize::unpadded */
function unpadded(size: bigint): bigint {
  return size - size / MIN_PIECE
}

/** Of unpadded bytes: 254 bits become 256, through a floating-point number. @see fr32 src/padding.rs transform_byte_offset */
function padded(size: bigint): bigint {
  const bits = wrap(size * 8n)
  return BigInt(Math.ceil(Number(wrap((bits / 254n) * 256n + (bits % 254n))) / 8))
}

function isPowerOfTwo(value: bigint): boolean {
  return value > 0n && (value & (value - 1n)) === 0n
}

function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  const input = new Uint8Array(2 * NODE)
  input.set(left)
  input.set(right, NODE)
  const digest = sha256(input).slice()
  digest[NODE - 1] = (digest[NODE - 1] as number) & 0x3f
  return digest
}

/** Roots of trees of zeros over 32 bytes times powers of two, made when asked for. */
const zeroRoots: Uint8Array[] = [new Uint8Array(NODE)]

function zeroRoot(levels: number): Uint8Array {
  for (let last = zeroRoots.length - 1; last < levels; last++) {
    const root = zeroRoots[last] as Uint8Array
    zeroRoots.push(hashPair(root, root))
  }
  return zeroRoots[levels] as Uint8Array
}

/** A tree over part of the sector. */
interface Subtree {
  /** Unpadded bytes. */
  readonly size: bigint
  readonly commitment: Uint8Array
}

/** A piece, or a gap that is filled with zeros. */
interface Part extends Subtree {
  /** Bytes, as the sum counts them. */
  readonly padded: bigint
}

function partOf(size: bigint, commitment: Uint8Array): Part {
  const short = unpadded(size)
  return { size: short, padded: padded(short), commitment }
}

/** Zeros of 128 bytes times powers of two, made when asked for: a list of pieces may have thousands of gaps. */
const zeroParts: Part[] = []

function zeros(power: number): Part {
  zeroParts[power] ??= partOf(MIN_PIECE << BigInt(power), zeroRoot(power + 2))
  return zeroParts[power]
}

/** Zeros that look as long as a neighbour. @see pieces.rs zero_padding */
function zerosBeside(size: bigint): Subtree {
  const bytes = padded(size)
  // Nothing shorter than two nodes.
  if (bytes < 64n || !isPowerOfTwo(bytes)) throw illegal('Hashed size must equal padded size')
  return { size, commitment: zeroRoot(Math.log2(Number(bytes)) - 5) }
}

/** The pieces and the zeros between and behind them, in order. */
function withZeros(infos: readonly PieceInfo[], sectorSize: bigint): Part[] {
  const all: Part[] = []
  let sum = 0n
  const align = (size: bigint): void => {
    if (size === 0n) throw illegal('piece of no bytes')
    const gap = wrap(-sum) % size
    if (gap % MIN_PIECE !== 0n || gap >> BigInt(ZERO_SIZES + 7) !== 0n) throw illegal(`no commitment to ${gap} zeros`)
    let rest = Number(gap / MIN_PIECE)
    for (let power = 0; rest > 0; power++, rest = Math.floor(rest / 2)) if (rest % 2 === 1) all.push(zeros(power))
    sum = wrap(sum + gap)
  }
  for (const { size, cid: piece } of infos) {
    align(size)
    if (piece.codec !== CODEC_FIL_COMMITMENT_UNSEALED || piece.hashCode !== HASH_SHA2_256_TRUNC254_PADDED) {
      throw illegal('piece CID is no unsealed commitment')
    }
    const commitment = piece.digest
    if (commitment.length !== NODE) throw illegal('commitments must be 32 bytes long')
    all.push(partOf(size, commitment))
    sum = wrap(sum + size)
  }
  align(sectorSize)
  return all
}

/** Adds a subtree; equal neighbours join. */
function push(stack: Subtree[], subtree: Subtree): void {
  let top = subtree
  for (let last = stack.at(-1); last !== undefined && last.size === top.size; last = stack.at(-1)) {
    stack.pop()
    top = { size: wrap(last.size + top.size), commitment: hashPair(last.commitment, top.commitment) }
  }
  stack.push(top)
}

/** @see pieces.rs compute_comm_d */
function rootOf(parts: readonly Part[], sectorSize: bigint): Uint8Array {
  if (BigInt(parts.length) > unpadded(sectorSize) / unpadded(MIN_PIECE)) throw illegal('Too many pieces')
  let sum = 0n
  for (const part of parts) sum += part.padded
  if (wrap(sum) > sectorSize) throw illegal('Piece is larger than sector.')
  if (!parts.every((part) => isPowerOfTwo(part.padded))) throw illegal('Piece size must be a power of 2.')
  const stack: Subtree[] = []
  const top = (): Subtree => stack.at(-1) as Subtree
  for (const part of parts) {
    while (stack.length > 0 && top().size < part.size) push(stack, zerosBeside(top().size))
    push(stack, part)
  }
  while (stack.length > 1) push(stack, zerosBeside(top().size))
  return top().commitment
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
  const commitment =
    infos.length === 0 ? zerosBeside(unpadded(sectorSize)).commitment : rootOf(withZeros(infos, sectorSize), sectorSize)
  return createCid(CODEC_FIL_COMMITMENT_UNSEALED, HASH_SHA2_256_TRUNC254_PADDED, commitment)
}
