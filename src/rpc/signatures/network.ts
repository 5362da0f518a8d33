/** Signatures: methods about the network as a whole. */
import type { MarketBalance, MarketDeal } from '../../chain/queries/marketActor.ts'
import type { Cid } from '../../codec/cid.ts'
import { bool, cid, u64 } from '../../codec/description.ts'
import { named } from '../../codec/goJson.ts'
import type { CirculatingSupply } from '../../execution/circulatingSupply.ts'
import type { CollateralBounds } from '../../execution/pledgePrices.ts'
import { dealId } from '../../state/scalars.ts'
import type { ActorState } from '../../types/actor.ts'
import { type Address, address } from '../../types/address.ts'
import { tokenAmount } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import {
  type ApiNetworkParams,
  apiCirculatingSupply,
  apiCollateralBounds,
  apiMarketBalance,
  apiMarketDeal,
  apiNetworkParams,
  changedActors,
  marketDeals,
  marketParticipants,
} from '../types/network.ts'

const key = param('tipsetKey', tipsetKey)

export const stateVMCirculatingSupplyInternal: CallSignature<readonly [Param<TipsetKey>], CirculatingSupply> =
  callSignature({
    name: 'StateVMCirculatingSupplyInternal',
    cost: 'scan',
    perm: 'read',
    summary: 'The circulating supply that actors see, with its parts.',
    params: [key],
    result: apiCirculatingSupply,
  })

export const stateCirculatingSupply: CallSignature<readonly [Param<TipsetKey>], bigint> = callSignature({
  name: 'StateCirculatingSupply',
  cost: 'scan',
  perm: 'read',
  summary: 'The exact circulating supply; walks the whole state.',
  params: [key],
  result: tokenAmount,
})

export const stateGetNetworkParams: CallSignature<readonly [], ApiNetworkParams> = callSignature({
  name: 'StateGetNetworkParams',
  perm: 'read',
  summary: 'Parameters and upgrade heights of the network.',
  params: [],
  result: apiNetworkParams,
})

export const stateMarketBalance: CallSignature<readonly [Param<Address>, Param<TipsetKey>], MarketBalance> =
  callSignature({
    name: 'StateMarketBalance',
    perm: 'read',
    summary: 'What an address has in the storage market.',
    params: [param('address', address), key],
    result: apiMarketBalance,
  })

export const stateMarketParticipants: CallSignature<
  readonly [Param<TipsetKey>],
  ReadonlyMap<Address, MarketBalance>
> = callSignature({
  name: 'StateMarketParticipants',
  cost: 'scan',
  perm: 'read',
  summary: 'Everyone with something in the storage market.',
  params: [key],
  result: marketParticipants,
})

export const stateMarketDeals: CallSignature<
  readonly [Param<TipsetKey>],
  ReadonlyMap<number, MarketDeal>
> = callSignature({
  name: 'StateMarketDeals',
  cost: 'scan',
  perm: 'read',
  summary: 'All deals by their id; large on mainnet.',
  params: [key],
  result: marketDeals,
})

export const stateMarketStorageDeal: CallSignature<readonly [Param<number>, Param<TipsetKey>], MarketDeal> =
  callSignature({
    name: 'StateMarketStorageDeal',
    perm: 'read',
    summary: 'One deal.',
    params: [param('dealId', dealId), key],
    result: apiMarketDeal,
  })

export const stateMarketProposalPending: CallSignature<readonly [Param<Cid>, Param<TipsetKey>], boolean> =
  callSignature({
    name: 'StateMarketProposalPending',
    perm: 'read',
    versions: ['v1'],
    summary: 'Whether a published deal waits for its sector.',
    params: [param('proposalCid', cid), key],
    result: bool,
  })

export const stateDealProviderCollateralBounds: CallSignature<
  readonly [Param<bigint>, Param<boolean>, Param<TipsetKey>],
  CollateralBounds
> = callSignature({
  name: 'StateDealProviderCollateralBounds',
  perm: 'read',
  summary: "What a deal's provider may put up, attoFIL; the least with a margin of a tenth.",
  params: [param('size', named(u64, 'abi.PaddedPieceSize')), param('verified', bool), key],
  result: apiCollateralBounds,
})

export const stateChangedActors: CallSignature<
  readonly [Param<Cid>, Param<Cid>],
  ReadonlyMap<Address, ActorState>
> = callSignature({
  name: 'StateChangedActors',
  cost: 'scan',
  perm: 'read',
  summary: 'Actors that are new or different in the second state.',
  params: [param('old', cid), param('new', cid)],
  result: changedActors,
})
