/** Which keys the proofs of a network are verified with. */
import type { SectorSize } from '../sectorSize.ts'
import type { Circuit } from './keyName.ts'
import { fileName, KEY_FILES, type KeyFile, SRS_FILE } from './parameters.ts'

type SizeName = SectorSize['name']

/** Sector sizes that a network's policy allows. @see builtin-actors runtime/src/runtime/policy.rs ProofSet */
const SIZES: Readonly<Record<string, readonly SizeName[]>> = {
  mainnet: ['32GiB', '64GiB'],
  calibnet: ['32GiB', '64GiB'],
  butterflynet: ['512MiB', '32GiB', '64GiB'],
}
/** Of networks that are not public. */
const LOCAL_SIZES: readonly SizeName[] = ['2KiB', '8MiB']

/** What is proven with the keys of a circuit. */
const PROVEN: Readonly<Record<Circuit, string>> = {
  winning: 'winning PoSt',
  window: 'window PoSt',
  seal: 'seals',
  update: 'sector updates',
}

/** The keys of a network, by its name. */
export function networkKeyFiles(network: string): KeyFile[] {
  const sizes = SIZES[network] ?? LOCAL_SIZES
  return KEY_FILES.filter(({ size }) => sizes.includes(size))
}

/**
 * What a node without some of the keys takes for granted, as one line.
 * @param has - whether a file is there, by its full name
 * @returns undefined: nothing
 */
export function presumedProofs(network: string, has: (name: string) => boolean): string | undefined {
  const missing = networkKeyFiles(network).filter((file) => !has(fileName(file)))
  const kinds = (Object.keys(PROVEN) as Circuit[])
    .filter((circuit) => missing.some((file) => file.circuit === circuit))
    .map((circuit) => PROVEN[circuit])
  if (!has(fileName(SRS_FILE))) kinds.push('aggregated seals')
  if (kinds.length === 0) return undefined
  return `presumed, not verified, for lack of keys: ${kinds.join(', ')} (see petrel proofs fetch)`
}
