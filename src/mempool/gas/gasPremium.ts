/**
 * A premium that gets a message included within some epochs: a little below the gas-weighted median of what recent
 * messages paid, with a floor and a little noise.
 * @see lotus node/impl/gasutils/gasutils.go GasEstimateGasPremium, medianGasPremium
 */
import { Lru } from '../../base/lru.ts'
import { finish, type Steps } from '../../base/steps.ts'
import type { ChainMessage } from '../../types/chainMessage.ts'
import { BLOCK_GAS_TARGET } from '../../types/protocol.ts'
import type { TokenAmount } from '../../types/scalars.ts'
import { firstBlock, type Tipset, type TipsetKey, tipsetKeyText } from '../../types/tipset.ts'
import { PREMIUM_CACHE_MESSAGES, PREMIUM_CACHE_TIPSETS, PREMIUM_TIPSET_WEIGHT } from '../limits.ts'

/** The estimate is never below this (before noise). */
const MINIMUM_PREMIUM = 100_000n
/** Most epochs that are looked at, divided by two. */
const MAX_BLOCKS = 128
const NOISE_DEVIATION = 0.005
const FIXED_POINT = 2 ** 32
/** Premiums that are put in order in one step. */
const MERGED_PER_STEP = 4096

/** What one message paid. */
export interface PaidPremium {
  readonly premium: TokenAmount
  readonly gasLimit: bigint
}

/** What the estimate reads. */
export interface PremiumDeps {
  readonly chain: {
    loadTipset(key: TipsetKey): Tipset
    tipsetMessages(tipset: Tipset): readonly ChainMessage[]
  }
  /** Normally distributed, mean 0, deviation 1. */
  readonly normal: () => number
}

/** Estimates premiums, remembering what each tipset paid. */
export class PremiumEstimator {
  readonly #deps: PremiumDeps
  readonly #paid = new Lru<string, readonly PaidPremium[]>(PREMIUM_CACHE_MESSAGES, (paid) =>
    Math.max(PREMIUM_TIPSET_WEIGHT, paid.length),
  )
  /** Without noise, by tipset and epochs: sorting what thousands paid would be a third of what a send costs. */
  readonly #premiums = new Lru<string, TokenAmount>(PREMIUM_CACHE_TIPSETS)

  constructor(deps: PremiumDeps) {
    this.#deps = deps
  }

  /** {@link findPremium} at once. */
  estimate(blocks: bigint, tipset: Tipset): TokenAmount {
    return finish(this.findPremium(blocks, tipset))
  }

  /**
   * The premium, a tipset at a time: any tipset may be asked about, and the messages of 256 of them are seconds of decoding.
   * @param blocks - within how many epochs it shall be included; 0 counts as 1, at most 128
   */
  *findPremium(blocks: bigint, tipset: Tipset): Steps<TokenAmount> {
    const wanted = blocks === 0n ? 1 : blocks > MAX_BLOCKS ? MAX_BLOCKS : Number(blocks)
    const key = `${wanted} ${tipsetKeyText(tipset.key)}`
    let premium = this.#premiums.get(key)
    if (premium === undefined) {
      premium = yield* this.#recentMedian(wanted, tipset)
      this.#premiums.set(key, premium)
    }
    return addNoise(premium < MINIMUM_PREMIUM ? floorFor(wanted) : premium, this.#deps.normal())
  }

  *#recentMedian(wanted: number, tipset: Tipset): Steps<TokenAmount> {
    const paid: (readonly PaidPremium[])[] = []
    let blockCount = 0
    let at = tipset
    for (let i = 0; i < wanted * 2 && at.height > 0; i++) {
      at = this.#deps.chain.loadTipset(firstBlock(at).parents)
      blockCount += at.blocks.length
      paid.push(this.#paidIn(at))
      yield
    }
    return medianPremium(yield* merged(paid), blockCount)
  }

  /** Highest first. */
  #paidIn(tipset: Tipset): readonly PaidPremium[] {
    const key = tipsetKeyText(tipset.key)
    let paid = this.#paid.get(key)
    if (paid === undefined) {
      paid = this.#deps.chain
        .tipsetMessages(tipset)
        .map(({ message }) => ({ premium: message.gasPremium, gasLimit: message.gasLimit }))
        .sort((a, b) => (a.premium > b.premium ? -1 : a.premium < b.premium ? 1 : 0))
      this.#paid.set(key, paid)
    }
    return paid
  }
}

/** Lists as one, all of them highest first. Sorting what 256 tipsets paid would be 100 ms in one step. */
function* merged(lists: readonly (readonly PaidPremium[])[]): Steps<readonly PaidPremium[]> {
  if (lists.length <= 1) return lists[0] ?? []
  const middle = Math.floor(lists.length / 2)
  const left = yield* merged(lists.slice(0, middle))
  const right = yield* merged(lists.slice(middle))
  const out: PaidPremium[] = []
  for (let i = 0, j = 0; ; ) {
    const a = left[i]
    const b = right[j]
    if (a !== undefined && (b === undefined || a.premium >= b.premium)) {
      out.push(a)
      i++
    } else if (b !== undefined) {
      out.push(b)
      j++
    } else return out
    if (out.length % MERGED_PER_STEP === 0) yield
  }
}

/**
 * The premium where the gas of better-paying messages reaches 52.5 % of what the blocks aim at, averaged with the one
 * above it; the lowest when there is less gas than that.
 * @param paid - highest first
 */
export function medianPremium(paid: readonly PaidPremium[], blocks: number): TokenAmount {
  const target = BLOCK_GAS_TARGET * BigInt(blocks)
  let left = target / 2n + target / 40n
  let last = 0n
  let above = 0n
  for (const { premium, gasLimit } of paid) {
    above = last
    last = premium
    left -= gasLimit
    if (left < 0n) break
  }
  return above === 0n ? last : (last + above) / 2n
}

function floorFor(blocks: number): TokenAmount {
  if (blocks === 1) return MINIMUM_PREMIUM * 2n
  return blocks === 2 ? (MINIMUM_PREMIUM * 3n) / 2n : MINIMUM_PREMIUM
}

/** Equal estimates would make equal messages, and the order of equal messages is arbitrary. */
function addNoise(premium: TokenAmount, normal: number): TokenAmount {
  const noise = 1 + normal * NOISE_DEVIATION
  return (premium * (BigInt(Math.trunc(noise * FIXED_POINT)) + 1n)) / BigInt(FIXED_POINT)
}
