/**
 * What power costs on the chain as it stands: deposits, pledges, and the collateral of deals.
 * @see lotus node/impl/full/state.go StateMinerPreCommitDepositForPower, StateMinerInitialPledgeCollateral,
 *   StateMinerInitialPledgeForSector, StateMinerCreationDeposit, StateDealProviderCollateralBounds
 */

import { expectedReward, initialPledgeForPower, type PledgeInputs } from '../actors/miner/pledge.ts'
import { floorDivide } from '../base/floorDivision.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { MarketActor } from '../chain/queries/marketActor.ts'
import { getCbor } from '../ipld/blockstore.ts'
import { networkVersionAt } from '../networks/network.ts'
import { type PowerState, powerStateAt } from '../state/power.ts'
import { type RewardState, rewardStateAt } from '../state/reward.ts'
import { sealProofSectorSize } from '../state/scalars.ts'
import type { SectorPreCommitInfo } from '../state/sector.ts'
import type { StateTree } from '../state/stateTree.ts'
import type { Address } from '../types/address.ts'
import { type ActorId, ATTO_PER_FIL, type ChainEpoch, type TokenAmount } from '../types/scalars.ts'
import type { Tipset } from '../types/tipset.ts'
import { circulatingSupply } from './circulatingSupply.ts'

const REWARD_ACTOR = 2n
const POWER_ACTOR = 4n
/** Lotus asks for a tenth more than the actors do, so that the answer still holds when the message is executed. */
const MARGIN_NUMERATOR = 110n
const MARGIN_DENOMINATOR = 100n
/** Verified space counts ten times. */
const VERIFIED_MULTIPLIER = 10n
/** Binary digits of a sector's quality. */
const QUALITY_BITS = 20n
/** FIP-0081: from this version on the pledge turns to the simple form. */
const FIRST_RAMP = 15
/** Up to this version a deposit depends on the sector's deals. */
const LAST_DEPOSIT_BY_DEALS = 16
/** FIP-0077: from this version on a miner is not for nothing. */
const FIRST_CREATION_DEPOSIT = 27
/** A new miner pledges for a tenth of the least power that may produce blocks. */
const CREATION_POWER_SHARE = 10n
/** A deal's provider covers a hundredth of its share of the supply. */
const COLLATERAL_SHARE = 100n
const TOTAL_FILECOIN = 2_000_000_000n * ATTO_PER_FIL

/** AttoFIL, both inclusive. */
export interface CollateralBounds {
  readonly min: TokenAmount
  readonly max: TokenAmount
}

function withMargin(amount: TokenAmount): TokenAmount {
  return floorDivide(amount * MARGIN_NUMERATOR, MARGIN_DENOMINATOR)
}

/** What of a pre-commitment has a price. */
type PricedSector = Pick<SectorPreCommitInfo, 'sealProof' | 'dealIds' | 'expiration'>

/** Prices in a tipset's parent state. */
export class PledgePrices {
  readonly #view: ChainView
  readonly #tree: StateTree
  readonly #height: ChainEpoch

  constructor(view: ChainView, tipset: Tipset) {
    this.#view = view
    this.#tree = view.stateBefore(tipset)
    this.#height = tipset.height
  }

  #load<T>(id: ActorId, name: string, codecAt: (version: number) => Parameters<typeof getCbor<T>>[1]): [T, number] {
    const actor = this.#tree.getActor(id)
    if (actor === undefined) throw new ChainError('ACTOR_NOT_FOUND', `loading ${name} actor: actor not found`)
    const version = this.#view.codes(actor.code)?.actorsVersion
    if (version === undefined) {
      throw new ChainError('NOT_SUPPORTED', `loading ${name} actor state: unknown actor code ${actor.code}`)
    }
    return [getCbor(this.#view.store.blocks, codecAt(version), actor.head), version]
  }

  #reward(): [RewardState, number] {
    return this.#load<RewardState>(REWARD_ACTOR, 'reward', rewardStateAt)
  }

  #power(): [PowerState, number] {
    return this.#load<PowerState>(POWER_ACTOR, 'power', powerStateAt)
  }

  #supply(): TokenAmount {
    return circulatingSupply(this.#view.network, this.#height, this.#tree).filCirculating
  }

  #inputs(): PledgeInputs {
    const [reward] = this.#reward()
    const [power, version] = this.#power()
    const hasRamp = version >= FIRST_RAMP
    const started = hasRamp && power.rampStartEpoch > 0
    return {
      baselinePower: reward.thisEpochBaselinePower,
      reward: reward.thisEpochRewardSmoothed,
      networkPower: power.thisEpochQaPowerSmoothed,
      circulatingSupply: this.#supply(),
      epochsSinceRampStart: hasRamp ? (started ? this.#height - power.rampStartEpoch : 0) : -1,
      rampDuration: started ? power.rampDurationEpochs : 0,
    }
  }

  /** Quality-adjusted bytes of a sector with so much verified space-time. @throws ChainError `NOT_SUPPORTED` @see go-state-types QAPowerForWeight */
  #qualityAdjusted(size: bigint, duration: ChainEpoch, verified: bigint): bigint {
    // Lotus divides by it, and says that it panicked.
    if (duration === 0)
      throw new ChainError('NOT_SUPPORTED', 'sector duration must not be 0: it expires in the epoch of the tipset')
    const spaceTime = size * BigInt(duration)
    const weighted = (spaceTime - verified + verified * VERIFIED_MULTIPLIER) * 10n
    const quality = floorDivide(floorDivide(weighted << QUALITY_BITS, spaceTime), 10n)
    return (size * quality) >> QUALITY_BITS
  }

  /** @throws ChainError `NOT_SUPPORTED` unknown proof, and what the market refuses of the deals */
  #powerOf(miner: Address, sector: PricedSector): bigint {
    const size = this.#sizeOf(sector)
    const verified = new MarketActor(this.#view, this.#tree).verifiedWeight(
      miner,
      sector.dealIds,
      this.#height,
      sector.expiration,
    )
    return this.#qualityAdjusted(size, sector.expiration - this.#height, verified)
  }

  #sizeOf(sector: PricedSector): bigint {
    const size = sealProofSectorSize(sector.sealProof)
    if (size !== undefined) return BigInt(size)
    const text = `failed to resolve sector size for seal proof: unsupported proof type: ${sector.sealProof}`
    throw new ChainError('NOT_SUPPORTED', text)
  }

  /** AttoFIL to deposit for a pre-commitment, with Lotus' margin. */
  preCommitDeposit(miner: Address, sector: PricedSector): TokenAmount {
    const [reward] = this.#reward()
    const version = networkVersionAt(this.#view.network, this.#height)
    const power =
      version <= LAST_DEPOSIT_BY_DEALS ? this.#powerOf(miner, sector) : this.#sizeOf(sector) * VERIFIED_MULTIPLIER
    const networkPower = this.#power()[0].thisEpochQaPowerSmoothed
    return withMargin(expectedReward(power, { reward: reward.thisEpochRewardSmoothed, networkPower }))
  }

  /** AttoFIL to pledge for a sector that a miner has pre-committed, with Lotus' margin. */
  initialPledgeOf(miner: Address, sector: PricedSector): TokenAmount {
    return withMargin(initialPledgeForPower(this.#powerOf(miner, sector), this.#inputs()))
  }

  /** AttoFIL to pledge for a sector of a size and duration, `verified` bytes of it, with Lotus' margin. */
  initialPledgeForSector(duration: ChainEpoch, size: bigint, verified: bigint): TokenAmount {
    const power = this.#qualityAdjusted(size, duration, verified * BigInt(duration))
    return withMargin(initialPledgeForPower(power, this.#inputs()))
  }

  /** AttoFIL that a new miner locks; 0 before FIP-0077. */
  creationDeposit(): TokenAmount {
    const { network } = this.#view
    if (networkVersionAt(network, this.#height) < FIRST_CREATION_DEPOSIT) return 0n
    const power = floorDivide(network.protocol.consensusMinerMinPowerBytes, CREATION_POWER_SHARE)
    return initialPledgeForPower(power, this.#inputs())
  }

  /** What a deal's provider may put up, with Lotus' margin on the least. @see go-state-types DealProviderCollateralBounds */
  dealCollateral(size: bigint): CollateralBounds {
    const [{ totalRawBytePower }] = this.#power()
    const [{ thisEpochBaselinePower }] = this.#reward()
    const powers = [totalRawBytePower, thisEpochBaselinePower, size]
    const whole = powers.reduce((most, power) => (power > most ? power : most))
    return {
      min: withMargin(floorDivide(this.#supply() * size, COLLATERAL_SHARE * whole)),
      max: TOTAL_FILECOIN,
    }
  }
}
