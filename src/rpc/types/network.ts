/** JSON forms of questions about the network and the storage market. Field order is Go's. @see lotus api/types.go, api/api_full.go */

import type { MarketBalance, MarketDeal } from '../../chain/queries/marketActor.ts'
import { bigInt } from '../../codec/bigInteger.ts'
import { type Codec, jsonOnly, struct, uint } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import type { Json } from '../../codec/jsonText.ts'
import type { CirculatingSupply } from '../../execution/circulatingSupply.ts'
import type { CollateralBounds } from '../../execution/pledgePrices.ts'
import { type Network, upgradeHeight } from '../../networks/network.ts'
import { dealProposal, dealState } from '../../state/market.ts'
import { type ActorState, actorV5 } from '../../types/actor.ts'
import type { Address } from '../../types/address.ts'
import { tokenAmount } from '../../types/scalars.ts'

/** Parts of the supply and what circulates, attoFIL. @see lotus api/api_full.go CirculatingSupply */
export const apiCirculatingSupply: Codec<CirculatingSupply> = struct<CirculatingSupply>('api.CirculatingSupply', [
  ['filVested', 'FilVested', tokenAmount],
  ['filMined', 'FilMined', tokenAmount],
  ['filBurnt', 'FilBurnt', tokenAmount],
  ['filLocked', 'FilLocked', tokenAmount],
  ['filCirculating', 'FilCirculating', tokenAmount],
  ['filReserveDisbursed', 'FilReserveDisbursed', tokenAmount],
])

/** Funds of an address in the storage market, attoFIL: all, and what deals lock. */
export const apiMarketBalance: Codec<MarketBalance> = struct<MarketBalance>('api.MarketBalance', [
  ['escrow', 'Escrow', tokenAmount],
  ['locked', 'Locked', tokenAmount],
])

/** The least and the most that a provider may put up for a deal, attoFIL. @see lotus api/api_full.go DealCollateralBounds */
export const apiCollateralBounds: Codec<CollateralBounds> = struct<CollateralBounds>('api.DealCollateralBounds', [
  ['min', 'Min', tokenAmount],
  ['max', 'Max', tokenAmount],
])

/** A deal's proposal and state; the state of a deal that is not activated has -1 for its epochs. */
export const apiMarketDeal: Codec<MarketDeal> = struct<MarketDeal>('api.MarketDeal', [
  ['proposal', 'Proposal', dealProposal],
  ['state', 'State', dealState],
])

function mapOfAddress<T>(inner: Codec<T>): Codec<ReadonlyMap<Address, T>> {
  return jsonOnly<ReadonlyMap<Address, T>>(
    `map[string]${inner.name}`,
    (value, context) => {
      const out: { [key: string]: Json } = {}
      for (const [who, balance] of value) out[who.toString(context.addressPrefix)] = inner.toJson(balance, context)
      return out
    },
    () => new Map(),
    { type: 'object', additionalProperties: inner.schema },
  )
}

/** Answer of StateMarketParticipants: balances by address. Output only: read back it is empty. */
export const marketParticipants: Codec<ReadonlyMap<Address, MarketBalance>> = mapOfAddress(apiMarketBalance)

/** Answer of StateChangedActors: actors by address, as they are in the newer state. Output only: read back it is empty. */
export const changedActors: Codec<ReadonlyMap<Address, ActorState>> = mapOfAddress(actorV5)

/** Answer of StateMarketDeals: deals by their ID in decimal. Output only: read back it is empty. */
export const marketDeals: Codec<ReadonlyMap<number, MarketDeal>> = jsonOnly<ReadonlyMap<number, MarketDeal>>(
  'map[string]*api.MarketDeal',
  (value, context) => {
    const out: { [key: string]: Json } = {}
    for (const [id, deal] of value) out[String(id)] = apiMarketDeal.toJson(deal, context)
    return out
  },
  () => new Map(),
  { type: 'object', additionalProperties: apiMarketDeal.schema },
)

/** The upgrades that Lotus lists, in its order. */
const LISTED_BEFORE_TAMPING = ['Smoke', 'Breeze', 'Ignition', 'Liftoff', 'Assembly', 'Refuel', 'Tape', 'Kumquat']
const LISTED_AFTER_TAMPING = [
  'Calico',
  'Persian',
  'Orange',
  'Claus',
  'Trust',
  'Norwegian',
  'Turbo',
  'Hyperdrive',
  'Chocolate',
  'OhSnap',
  'Skyr',
  'Shark',
  'Hygge',
  'Lightning',
  'Thunder',
  'Watermelon',
  'Dragon',
  'Phoenix',
  'Waffle',
  'Tuktuk',
  'Teep',
  'Tock',
  'GoldenWeek',
  'FireHorse',
  'Xx',
]

/** A network's parameters with what only its chain knows. */
export interface ApiNetworkParams {
  readonly network: Network
  readonly networkName: string
  /** Unix time, seconds. */
  readonly genesisTimestamp: number
}

export const apiNetworkParams: Codec<ApiNetworkParams> = jsonOnly<ApiNetworkParams>(
  'api.NetworkParams',
  ({ network, networkName, genesisTimestamp }, context) => {
    const upgrades: { [key: string]: Json } = {}
    const add = (name: string): void => {
      upgrades[`Upgrade${name}Height`] = upgradeHeight(network, name) ?? null
    }
    LISTED_BEFORE_TAMPING.forEach(add)
    upgrades.BreezeGasTampingDuration = network.protocol.breezeGasTampingDuration
    LISTED_AFTER_TAMPING.forEach(add)
    return {
      NetworkName: networkName,
      BlockDelaySecs: uint.toJson(network.blockDelaySecs, context),
      ConsensusMinerMinPower: bigInt.toJson(network.protocol.consensusMinerMinPowerBytes, context),
      PreCommitChallengeDelay: network.protocol.preCommitChallengeDelay,
      ForkUpgradeParams: upgrades,
      Eip155ChainID: network.chainId,
      GenesisTimestamp: genesisTimestamp,
    }
  },
  () => {
    throw new CodecError('NOT_SUPPORTED', 'not supported: network parameters as input')
  },
  { type: 'object', title: 'api.NetworkParams' },
)
