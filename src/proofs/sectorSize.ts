/**
 * What the circuits of each sector size are like. Registered proof types come in groups of five, one for each size in this
 * order.
 * @see filecoin-proofs constants.rs, filecoin-proofs-api registry.rs, storage-proofs-update constants.rs
 */
import { ProofError } from './errors.ts'

/** Challenges of each sector in a window PoSt, and of the one in a winning PoSt. */
export const WINDOW_CHALLENGES = 10
export const WINNING_CHALLENGES = 66

/** One sector size. */
export interface SectorSize {
  readonly name: '2KiB' | '8MiB' | '512MiB' | '32GiB' | '64GiB'
  /** Leaves of a tree: sector size / 32. */
  readonly nodes: number
  readonly sealPartitions: number
  readonly nonInteractivePartitions: number
  /** Challenges in each partition of a seal. */
  readonly sealChallenges: number
  /** Sectors in a partition of a window PoSt. */
  readonly windowSectors: number
  readonly updatePartitions: number
  /** Number in the public inputs that stands for the share of nodes hashed, h: 1 for h = 1, 8 for h = 10. */
  readonly updateSelect: number
}

/** The five sizes, smallest first: the order of registered proof types. */
export const SECTOR_SIZES: readonly SectorSize[] = [
  {
    name: '2KiB',
    nodes: 2 ** 6,
    sealPartitions: 1,
    nonInteractivePartitions: 13,
    sealChallenges: 2,
    windowSectors: 2,
    updatePartitions: 1,
    updateSelect: 1,
  },
  {
    name: '8MiB',
    nodes: 2 ** 18,
    sealPartitions: 1,
    nonInteractivePartitions: 13,
    sealChallenges: 2,
    windowSectors: 2,
    updatePartitions: 4,
    updateSelect: 8,
  },
  {
    name: '512MiB',
    nodes: 2 ** 24,
    sealPartitions: 1,
    nonInteractivePartitions: 13,
    sealChallenges: 2,
    windowSectors: 2,
    updatePartitions: 16,
    updateSelect: 8,
  },
  {
    name: '32GiB',
    nodes: 2 ** 30,
    sealPartitions: 10,
    nonInteractivePartitions: 126,
    sealChallenges: 18,
    windowSectors: 2349,
    updatePartitions: 16,
    updateSelect: 8,
  },
  {
    name: '64GiB',
    nodes: 2 ** 31,
    sealPartitions: 10,
    nonInteractivePartitions: 126,
    sealChallenges: 18,
    windowSectors: 2300,
    updatePartitions: 16,
    updateSelect: 8,
  },
]

/**
 * The size and the group of a registered type.
 * @param groups - number of groups of the kind
 * @throws ProofError `UNKNOWN_PROOF_TYPE`
 */
export function sizeOfType(type: number, groups: number, kind: string): { size: SectorSize; group: number } {
  const size = SECTOR_SIZES[type % SECTOR_SIZES.length]
  const group = Math.floor(type / SECTOR_SIZES.length)
  if (size === undefined || !(group >= 0 && group < groups)) {
    throw new ProofError('UNKNOWN_PROOF_TYPE', `Cannot verify: ${type} is no registered ${kind} proof`)
  }
  return { size, group }
}
