/** How many of what there are, and which IDs they have. Scale 1 is about mainnet. */

/** Of what kind an actor is. Keyed: its secret key can be had again from the seed. */
export type Kind = 'miner' | 'worker' | 'secp256k1' | 'bls' | 'ethAccount' | 'placeholder' | 'contract' | 'multisig'

/** What a state is made from. */
export interface StateSize {
  /** 1: as mainnet. */
  readonly scale: number
  readonly seed: number
  readonly counts: Readonly<Record<Kind, number>>
  /** Sectors of all miners. */
  readonly sectors: number
  /** The first so many accounts of each kind that signs have a key that is known. */
  readonly keyed: number
}

/** ID of the first actor that is not a singleton. */
export const FIRST_ID = 1000

/** The kinds in the order of their IDs. */
export const KINDS: readonly Kind[] = [
  'miner',
  'worker',
  'secp256k1',
  'bls',
  'ethAccount',
  'placeholder',
  'contract',
  'multisig',
]

const ACTORS = 3_500_000
const MINERS = 3000
const SECTORS = 5_000_000
const CONTRACTS = 200_000
const MULTISIGS = 20_000
const ETH_ACCOUNTS = 600_000
const PLACEHOLDERS = 300_000
const BLS_ACCOUNTS = 300_000
/** Fewer miners than that cannot make a chain with several blocks in a tipset. */
const MIN_MINERS = 5
const MAX_KEYED = 2000
const MIN_KEYED = 40
const KEYED_AT_FULL_SCALE = 20_000

/** @param scale - above 0, at most 1 */
export function sizeOf(scale: number, seed: number): StateSize {
  if (!(scale > 0 && scale <= 1)) throw new RangeError(`scale must be above 0 and at most 1, not ${scale}`)
  if (!Number.isSafeInteger(seed) || seed < 0) throw new RangeError(`seed must be a whole number from 0, not ${seed}`)
  const part = (whole: number): number => Math.max(1, Math.round(whole * scale))
  const miner = Math.max(MIN_MINERS, part(MINERS))
  const keyed = Math.min(MAX_KEYED, Math.max(MIN_KEYED, Math.round(KEYED_AT_FULL_SCALE * scale)))
  const accounts = (whole: number): number => Math.max(keyed, part(whole))
  const others = {
    miner,
    worker: miner,
    bls: accounts(BLS_ACCOUNTS) - miner,
    ethAccount: accounts(ETH_ACCOUNTS),
    placeholder: part(PLACEHOLDERS),
    contract: part(CONTRACTS),
    multisig: part(MULTISIGS),
  }
  const taken = Object.values(others).reduce((sum, count) => sum + count, 0)
  const secp256k1 = Math.max(keyed, part(ACTORS) - taken)
  return { scale, seed, counts: { ...others, secp256k1 }, sectors: part(SECTORS), keyed }
}

/** First ID of a kind. */
export function firstIdOf({ counts }: StateSize, kind: Kind): number {
  let id = FIRST_ID
  for (const counted of KINDS) {
    if (counted === kind) return id
    id += counts[counted]
  }
  return id
}

/** Actors that are no singletons. */
export function actorCount({ counts }: StateSize): number {
  return KINDS.reduce((sum, kind) => sum + counts[kind], 0)
}

/** Kind of the actor with an ID, and its number among its kind. */
export function kindOf({ counts }: StateSize, id: number): { readonly kind: Kind; readonly index: number } {
  let index = id - FIRST_ID
  for (const kind of KINDS) {
    if (index < counts[kind]) return { kind, index }
    index -= counts[kind]
  }
  throw new RangeError(`no actor has ID ${id}`)
}
