/**
 * Claims of power in the power actor's state.
 * @see builtin-actors v18 actors/power/src/state.rs add_to_claim, set_claim, delete_claim
 */
import { type PowerClaim, type PowerState, powerClaim } from '../../state/power.ts'
import type { Address } from '../../types/address.ts'
import { Exit } from '../../types/exitCodes.ts'
import type { ExitCode } from '../../types/scalars.ts'
import { ActorMap } from '../actorMap.ts'
import { ActorError } from '../errors.ts'
import type { Runtime } from '../runtime.ts'

/** Miners that must exceed the minimum for it to be in force. */
export const CONSENSUS_MINER_MIN_MINERS = 4

/** By the bytes of the miner's address. */
export type Claims = ActorMap<PowerClaim>

/** The claims that the state's root leads to. */
export function loadClaims(runtime: Runtime, state: PowerState): Claims {
  return ActorMap.load(runtime, state.claims, powerClaim)
}

function fail(code: ExitCode, message: string): never {
  throw new ActorError(code, message)
}

/**
 * Puts a miner's claim in the place of the one before.
 * @throws ActorError `USR_ILLEGAL_STATE` for a negative power
 */
export function setClaim(claims: Claims, miner: Address, value: PowerClaim): void {
  if (value.rawBytePower < 0n) fail(Exit.USR_ILLEGAL_STATE, `negative claim raw power ${value.rawBytePower}`)
  if (value.qualityAdjPower < 0n) {
    fail(Exit.USR_ILLEGAL_STATE, `negative claim quality-adjusted power ${value.qualityAdjPower}`)
  }
  claims.set(miner.bytes, value)
}

/**
 * Adds power to a miner's claim and to the totals.
 * @param minimum - raw power from which a miner counts on its own, bytes
 */
export function addToClaim(
  state: PowerState,
  claims: Claims,
  miner: Address,
  raw: bigint,
  qualityAdjusted: bigint,
  minimum: bigint,
): PowerState {
  const old = claims.get(miner.bytes)
  if (old === undefined) fail(Exit.USR_NOT_FOUND, `no claim for actor ${miner.toString()}`)
  const next: PowerClaim = {
    ...old,
    rawBytePower: old.rawBytePower + raw,
    qualityAdjPower: old.qualityAdjPower + qualityAdjusted,
  }
  const wasBelow = old.rawBytePower < minimum
  const isBelow = next.rawBytePower < minimum
  let { minerAboveMinPowerCount: count, totalRawBytePower, totalQualityAdjPower } = state
  if (wasBelow && !isBelow) {
    count += 1
    totalRawBytePower += next.rawBytePower
    totalQualityAdjPower += next.qualityAdjPower
  } else if (!wasBelow && isBelow) {
    count -= 1
    totalRawBytePower -= old.rawBytePower
    totalQualityAdjPower -= old.qualityAdjPower
  } else if (!wasBelow) {
    totalRawBytePower += raw
    totalQualityAdjPower += qualityAdjusted
  }
  if (next.rawBytePower < 0n) {
    fail(Exit.USR_ILLEGAL_STATE, `negative claimed raw byte power: ${next.rawBytePower}`)
  }
  if (next.qualityAdjPower < 0n) {
    fail(Exit.USR_ILLEGAL_STATE, `negative claimed quality adjusted power: ${next.qualityAdjPower}`)
  }
  if (count < 0) fail(Exit.USR_ILLEGAL_STATE, `negative amount of miners lather than min: ${count}`)
  setClaim(claims, miner, next)
  return {
    ...state,
    totalBytesCommitted: state.totalBytesCommitted + raw,
    totalQaBytesCommitted: state.totalQaBytesCommitted + qualityAdjusted,
    totalRawBytePower,
    totalQualityAdjPower,
    minerAboveMinPowerCount: count,
  }
}

/** Drops a miner's claim and its power; none is fine. */
export function deleteClaim(state: PowerState, claims: Claims, miner: Address, minimum: bigint): PowerState {
  const old = claims.get(miner.bytes)
  if (old === undefined) return state
  const next = addToClaim(state, claims, miner, -old.rawBytePower, -old.qualityAdjPower, minimum)
  claims.delete(miner.bytes)
  return next
}

/** Power that counts: with few miners above the minimum, all that is committed. */
export function currentTotalPower(state: PowerState): { readonly raw: bigint; readonly qualityAdjusted: bigint } {
  return state.minerAboveMinPowerCount < CONSENSUS_MINER_MIN_MINERS
    ? { raw: state.totalBytesCommitted, qualityAdjusted: state.totalQaBytesCommitted }
    : { raw: state.totalRawBytePower, qualityAdjusted: state.totalQualityAdjPower }
}
