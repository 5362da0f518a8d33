/** What a local chain can be told, with its defaults. */
import type { ChainEpoch, TokenAmount } from '../types/scalars.ts'
import { ATTO_PER_FIL } from '../types/scalars.ts'
import { DevnetError } from './errors.ts'

/** How a local chain is made and driven. */
export interface DevnetOptions {
  /** All keys come from it; printed at start. */
  readonly seed: string
  /** Name in the init actor. */
  readonly networkName: string
  /** Number of block producers, of equal power. */
  readonly miners: number
  /** Funded accounts of each kind. */
  readonly accountsPerKind: number
  /** AttoFIL of each funded account. */
  readonly balance: TokenAmount
  /** Milliseconds between epochs while running; 0: blocks come only when asked for. */
  readonly blockTimeMs: number
  /** Makes a block as soon as a message arrives. */
  readonly instant: boolean
  /** Unix time of genesis, seconds; undefined: one block time ago, so that the first block is due. */
  readonly genesisTimestamp: number | undefined
  /**
   * Which of the miners produce here, by index; undefined: all. With some of them the others produce in other nodes, and
   * epochs follow the wall clock from genesis on.
   */
  readonly produce: readonly number[] | undefined
  /** Actors log, which costs gas: for a Lotus debug build to follow. Needs the Wasm actors: native ones have nothing to log. */
  readonly actorDebugging: boolean
  /** Epoch from which the producers vote on what is final, and there are certificates of F3; undefined: nobody votes. */
  readonly finalityFrom: ChainEpoch | undefined
}

const MAX_MINERS = 50
const MAX_ACCOUNTS = 100
const MAX_SEED_LENGTH = 256
const MAX_EPOCH = 1_000_000_000
const DEFAULT_BLOCK_TIME_MS = 4000
const MS_PER_SEC = 1000

/** One miner, a block each four seconds, three accounts of each kind with a million FIL. */
export const DEVNET_DEFAULTS: DevnetOptions = {
  seed: 'petrel',
  networkName: 'petrel-devnet',
  miners: 1,
  accountsPerKind: 3,
  balance: 1_000_000n * ATTO_PER_FIL,
  blockTimeMs: DEFAULT_BLOCK_TIME_MS,
  instant: false,
  genesisTimestamp: undefined,
  produce: undefined,
  actorDebugging: false,
  finalityFrom: undefined,
}

/**
 * Whether no block is made before its timestamp. Blocks made on demand, or faster than their timestamps' whole seconds, run
 * ahead of the clock.
 */
export function keepsClock({ blockTimeMs, instant }: Pick<DevnetOptions, 'blockTimeMs' | 'instant'>): boolean {
  return blockTimeMs >= MS_PER_SEC && !instant
}

function requireInteger(name: string, value: number, min: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new DevnetError('OPTIONS_INVALID', `Cannot start devnet: ${name} is ${value}, expected ${min} to ${max}`)
  }
}

/**
 * Options with defaults for what is missing.
 * @throws DevnetError `OPTIONS_INVALID`
 */
export function devnetOptions(given: Partial<DevnetOptions>): DevnetOptions {
  const options = { ...DEVNET_DEFAULTS, ...given }
  requireInteger('miners', options.miners, 1, MAX_MINERS)
  requireInteger('accountsPerKind', options.accountsPerKind, 0, MAX_ACCOUNTS)
  requireInteger('blockTimeMs', options.blockTimeMs, 0, Number.MAX_SAFE_INTEGER)
  requireInteger('seed length', options.seed.length, 1, MAX_SEED_LENGTH)
  if (options.finalityFrom !== undefined) requireInteger('finalityFrom', options.finalityFrom, 1, MAX_EPOCH)
  for (const index of options.produce ?? []) requireInteger('produce', index, 0, options.miners - 1)
  if (options.produce !== undefined && (options.blockTimeMs === 0 || options.blockTimeMs % MS_PER_SEC !== 0)) {
    throw new DevnetError(
      'OPTIONS_INVALID',
      'Cannot start devnet: miners in several nodes need a block time of whole seconds',
    )
  }
  if (options.balance < 0n) throw new DevnetError('OPTIONS_INVALID', 'Cannot start devnet: balance is negative')
  return options
}
