/**
 * The circulating supply that actors see.
 * @see lotus chain/stmgr/supply.go GetVMCirculatingSupplyDetailed
 */

import { ChainError } from '../chain/errors.ts'
import { bigIntFromBytes } from '../codec/bigInteger.ts'
import { CborReader } from '../codec/cborReader.ts'
import type { Cid } from '../codec/cid.ts'
import { type Blockstore, getBlock } from '../ipld/blockstore.ts'
import { type Network, networkVersionAt, upgradeHeight } from '../networks/network.ts'
import type { ActorState } from '../types/actor.ts'
import { EPOCHS_PER_DAY } from '../types/protocol.ts'
import { type ActorId, ATTO_PER_FIL, type ChainEpoch, type TokenAmount } from '../types/scalars.ts'
import { BURNT_FUNDS_ID, MARKET_ID, POWER_ID, RESERVE_ID, REWARD_ID } from '../types/singletons.ts'

/** AttoFIL each. */
export interface CirculatingSupply {
  readonly filVested: TokenAmount
  readonly filMined: TokenAmount
  readonly filBurnt: TokenAmount
  readonly filLocked: TokenAmount
  readonly filCirculating: TokenAmount
  readonly filReserveDisbursed: TokenAmount
}

/** Actors of the state in question. */
export interface SupplyState {
  readonly store: Blockstore
  getActor(id: ActorId): ActorState | undefined
}

/** The reserve is counted from another start. FIP-0100. */
const TEEP_VERSION = 25
/** Deals no longer count as locked. FIP-0091. */
const UNLOCKED_DEALS_VERSION = 23
/** On every network, whatever its block delay. */
const YEAR = 365 * EPOCHS_PER_DAY

/** [epochs until all is vested, whole FIL]: the table since Calico. */
const VESTING: readonly (readonly [duration: ChainEpoch, fil: bigint])[] = [
  [0, 10_632_000n],
  [183 * EPOCHS_PER_DAY, 19_015_887n + 32_787_700n],
  [YEAR, 22_421_712n + 9_400_000n],
  [2 * YEAR, 7_223_364n],
  [3 * YEAR, 87_637_883n + 898_958n],
  [6 * YEAR, 100_000_000n + 300_000_000n + 9_805_053n],
]

/** What has vested so many epochs after Liftoff. A row's unit is rounded down before it is multiplied. */
function vestedAfter(elapsed: ChainEpoch): TokenAmount {
  let vested = 0n
  for (const [duration, fil] of VESTING) {
    if (elapsed < 0) continue
    const amount = fil * ATTO_PER_FIL
    vested += amount
    if (elapsed < duration) vested -= (amount / BigInt(duration)) * BigInt(duration - elapsed)
  }
  return vested
}

/** A big integer field of an actor's state, by its index in the tuple. The same from actors v8 to v18. */
function stateAmounts(state: SupplyState, id: ActorId, first: number, count: number): TokenAmount {
  const head: Cid = requiredActor(state, id).head
  const reader = new CborReader(getBlock(state.store, head))
  reader.readArray()
  for (let i = 0; i < first; i++) reader.skip()
  let sum = 0n
  for (let i = 0; i < count; i++) sum += bigIntFromBytes(reader.readBytes())
  return sum
}

function requiredActor(state: SupplyState, id: ActorId): ActorState {
  const actor = state.getActor(id)
  if (actor === undefined) throw new ChainError('INVALID_STATE', `Cannot compute supply: there is no actor f0${id}`)
  return actor
}

/**
 * @param epoch - of the machine that asks
 * @param state - at the machine's start
 * @throws ChainError `NOT_SUPPORTED` up to Calico, whose vesting tables were others
 */
export function circulatingSupply(network: Network, epoch: ChainEpoch, state: SupplyState): CirculatingSupply {
  const calico = upgradeHeight(network, 'Calico') ?? 0
  const liftoff = upgradeHeight(network, 'Liftoff') ?? 0
  if (epoch <= calico) {
    throw new ChainError(
      'NOT_SUPPORTED',
      `not supported: circulating supply up to Calico (epoch ${calico}), got ${epoch}`,
    )
  }
  const version = networkVersionAt(network, epoch)
  const { initialFilReservedFil, teepInitialFilReservedFil } = network.protocol
  const reserve = BigInt(version >= TEEP_VERSION ? teepInitialFilReservedFil : initialFilReservedFil) * ATTO_PER_FIL

  const filVested = vestedAfter(epoch - liftoff)
  const filReserveDisbursed = reserve - requiredActor(state, RESERVE_ID).balance
  // TotalStoragePowerReward
  const filMined = stateAmounts(state, REWARD_ID, 8, 1)
  const filBurnt = requiredActor(state, BURNT_FUNDS_ID).balance
  // TotalPledgeCollateral; client collateral, provider collateral, client storage fee
  let filLocked = stateAmounts(state, POWER_ID, 4, 1)
  if (version < UNLOCKED_DEALS_VERSION) filLocked += stateAmounts(state, MARKET_ID, 8, 3)

  const sum = filVested + filMined + filReserveDisbursed - filBurnt - filLocked
  return { filVested, filMined, filBurnt, filLocked, filCirculating: sum < 0n ? 0n : sum, filReserveDisbursed }
}
