/**
 * Base fee of the next tipset. Two rules, by epoch; they count duplicates differently.
 * @see lotus chain/store/basefee.go ComputeBaseFee; FIP-0115
 */
import type { Network } from '../networks/network.ts'
import { messageCid } from '../types/message.ts'
import { BLOCK_GAS_TARGET, MINIMUM_BASE_FEE } from '../types/protocol.ts'
import type { ChainEpoch, TokenAmount } from '../types/scalars.ts'
import { signedMessageCid } from '../types/signedMessage.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import type { BlockMessages } from './blockMessages.ts'

/** A change is at most this part of the fee. */
const MAX_CHANGE_DENOMINATOR = 8n
/** The unit of gas whose premium decides: the last of 80 % of a block's gas limit. @see FIP-0115 */
export const PREMIUM_INDEX = 7_999_999_999n
/** Messages fill a block to 4/5 at most; counted until Smoke. */
const PACKING_NUMERATOR = 4n
const PACKING_DENOMINATOR = 5n

/** Rounds towards minus infinity; BigInt's own division truncates. */
function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/**
 * The rule by use of gas.
 * @param gasLimitSum - of distinct messages of the tipset
 * @param afterSmoke - the tipset lies above the Smoke upgrade
 */
export function nextBaseFeeFromUse(
  baseFee: TokenAmount,
  gasLimitSum: bigint,
  blockCount: number,
  afterSmoke: boolean,
): TokenAmount {
  const blocks = BigInt(blockCount)
  const perBlock = afterSmoke
    ? gasLimitSum / blocks
    : (PACKING_DENOMINATOR * gasLimitSum) / (blocks * PACKING_NUMERATOR)
  const delta = max(-BLOCK_GAS_TARGET, min(BLOCK_GAS_TARGET, perBlock - BLOCK_GAS_TARGET))
  const change = floorDivide(floorDivide(baseFee * delta, BLOCK_GAS_TARGET), MAX_CHANGE_DENOMINATOR)
  return max(MINIMUM_BASE_FEE, baseFee + change)
}

/** A message as the rule by premiums weighs it. */
export interface WeighedPremium {
  /** Effective premium, attoFIL per gas. */
  readonly premium: TokenAmount
  readonly gasLimit: bigint
}

/**
 * The premium that the unit of gas at `index` pays, counting units from the highest premium down.
 * @returns 0 when the messages together do not reach it
 */
export function premiumAt(messages: readonly WeighedPremium[], index: bigint): TokenAmount {
  const sorted = [...messages].sort((a, b) => (a.premium > b.premium ? -1 : a.premium < b.premium ? 1 : 0))
  let covered = 0n
  for (const { premium, gasLimit } of sorted) {
    covered += gasLimit
    if (index < covered) return premium
  }
  return 0n
}

/** The rule by premiums. */
export function nextBaseFeeFromPremium(baseFee: TokenAmount, premium: TokenAmount): TokenAmount {
  const step = (baseFee + MAX_CHANGE_DENOMINATOR - 1n) / MAX_CHANGE_DENOMINATOR
  return max(MINIMUM_BASE_FEE, baseFee + min(step, premium - step))
}

/** Sum of the gas limits of messages with different CIDs. */
function distinctGasLimit(blocks: readonly BlockMessages[]): bigint {
  const seen = new Set<string>()
  let sum = 0n
  for (const { bls, signed } of blocks) {
    for (const message of bls) {
      const { key } = messageCid(message)
      if (!seen.has(key)) sum += message.gasLimit
      seen.add(key)
    }
    for (const signedMessage of signed) {
      const { key } = signedMessageCid(signedMessage)
      if (!seen.has(key)) sum += signedMessage.message.gasLimit
      seen.add(key)
    }
  }
  return sum
}

/** Effective premiums, the first of each sender and nonce. */
function weighedPremiums(blocks: readonly BlockMessages[], baseFee: TokenAmount): WeighedPremium[] {
  const seen = new Set<string>()
  const out: WeighedPremium[] = []
  for (const { bls, signed } of blocks) {
    for (const message of [...bls, ...signed.map((item) => item.message)]) {
      const key = `${message.nonce}/${message.from.key}`
      if (seen.has(key)) continue
      seen.add(key)
      out.push({ premium: max(0n, min(message.gasPremium, message.gasFeeCap - baseFee)), gasLimit: message.gasLimit })
    }
  }
  return out
}

/** Heights that the rules change at. */
export interface BaseFeeRules {
  /** Height of an upgrade by name; undefined when the network does not have it. */
  readonly upgradeHeight: (name: string) => ChainEpoch | undefined
  /** Epochs after Breeze in which the fee is held down. */
  readonly breezeDuration: ChainEpoch
}

/** The rules of a network. */
export function baseFeeRules(network: Network): BaseFeeRules {
  const heights = new Map(network.upgrades.map((upgrade) => [upgrade.name, upgrade.height]))
  const { breezeGasTampingDuration } = network.protocol
  return { upgradeHeight: (name) => heights.get(name), breezeDuration: breezeGasTampingDuration }
}

/**
 * Base fee of a block mined on top of `tipset`.
 * @param messages - of each block, in tipset order
 * @returns attoFIL per unit of gas
 */
export function computeBaseFee(rules: BaseFeeRules, tipset: Tipset, messages: readonly BlockMessages[]): TokenAmount {
  const breeze = rules.upgradeHeight('Breeze') ?? -1
  if (breeze >= 0 && tipset.height > breeze && tipset.height < breeze + rules.breezeDuration) return MINIMUM_BASE_FEE
  const baseFee = firstBlock(tipset).parentBaseFee
  const fireHorse = rules.upgradeHeight('FireHorse') ?? Number.POSITIVE_INFINITY
  if (tipset.height < fireHorse) {
    const afterSmoke = tipset.height > (rules.upgradeHeight('Smoke') ?? -1)
    return nextBaseFeeFromUse(baseFee, distinctGasLimit(messages), tipset.blocks.length, afterSmoke)
  }
  return nextBaseFeeFromPremium(baseFee, premiumAt(weighedPremiums(messages, baseFee), PREMIUM_INDEX))
}
