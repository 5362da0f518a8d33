/** Methods about the network as a whole: supply, parameters, market, differences of states. */
import type { Steps } from '../../base/steps.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { resolveId } from '../../chain/chainView.ts'
import { MarketActor } from '../../chain/queries/marketActor.ts'
import { spendableSupply } from '../../chain/queries/spendableSupply.ts'
import { circulatingSupply } from '../../execution/circulatingSupply.ts'
import { PledgePrices } from '../../execution/pledgePrices.ts'
import { walkFetching } from '../../ipld/found.ts'
import type { StateTree } from '../../state/stateTree.ts'
import type { ActorState } from '../../types/actor.ts'
import { type Address, idAddress } from '../../types/address.ts'
import { firstBlock, type TipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { addressListing, numberedListing } from '../listing.ts'
import { listMethod, type MethodRow, method } from '../method.ts'
import {
  stateChangedActors,
  stateCirculatingSupply,
  stateDealProviderCollateralBounds,
  stateGetNetworkParams,
  stateMarketBalance,
  stateMarketDeals,
  stateMarketParticipants,
  stateMarketProposalPending,
  stateMarketStorageDeal,
  stateVMCirculatingSupplyInternal,
} from '../signatures/network.ts'
import { apiMarketBalance, apiMarketDeal } from '../types/network.ts'
import { loadTipset } from './chain.ts'

/** Rows about the network as a whole. */
export function networkMethods(view: ChainView): MethodRow[] {
  return [...supplyMethods(view), ...marketMethods(view), ...stateMethods(view)]
}

function treeAt(view: ChainView, key: TipsetKey): StateTree {
  return view.stateBefore(loadTipset(view, key))
}

function supplyMethods(view: ChainView): MethodRow[] {
  return [
    method({
      ...stateVMCirculatingSupplyInternal,
      handler: (key) => {
        const tipset = loadTipset(view, key)
        return circulatingSupply(view.network, tipset.height, view.stateBefore(tipset))
      },
    }),
    method({
      ...stateCirculatingSupply,
      handler: (key, call) => {
        const tipset = loadTipset(view, key)
        return walkFetching(spendableSupply(view, view.stateBefore(tipset), tipset.height - 1), call)
      },
    }),
    method({
      ...stateGetNetworkParams,
      handler: () => ({
        network: view.network,
        networkName: view.networkName(),
        genesisTimestamp: firstBlock(view.store.genesis()).timestamp,
      }),
    }),
  ]
}

function marketMethods(view: ChainView): MethodRow[] {
  return [
    method({
      ...stateMarketBalance,
      handler: (who, key) => {
        const tree = treeAt(view, key)
        const id = resolveId(tree, who)
        if (id === undefined) throw new RpcError('ACTOR_NOT_FOUND', 'actor not found')
        return new MarketActor(view, tree).balance(idAddress(id))
      },
    }),
    listMethod({
      ...stateMarketParticipants,
      list: (key) => {
        const market = new MarketActor(view, treeAt(view, key))
        return addressListing(apiMarketBalance, () => market.participants())
      },
    }),
    listMethod({
      ...stateMarketDeals,
      list: (key) => {
        const market = new MarketActor(view, treeAt(view, key))
        return numberedListing(apiMarketDeal, () => market.deals())
      },
    }),
    method({
      ...stateMarketStorageDeal,
      handler: (id, key) => new MarketActor(view, treeAt(view, key)).requiredDeal(id),
    }),
    method({
      ...stateMarketProposalPending,
      handler: (proposal, key) => new MarketActor(view, treeAt(view, key)).isPending(proposal),
    }),
    method({
      ...stateDealProviderCollateralBounds,
      handler: (size, _verified, key) => new PledgePrices(view, loadTipset(view, key)).dealCollateral(size),
    }),
  ]
}

function stateMethods(view: ChainView): MethodRow[] {
  return [
    method({
      ...stateChangedActors,
      handler: (before, after, { walk }) => walk(changedActors(view.stateTree(before), view.stateTree(after))),
    }),
  ]
}

function* changedActors(before: StateTree, after: StateTree): Steps<Map<Address, ActorState>> {
  const out = new Map<Address, ActorState>()
  for (const change of before.diff(after)) {
    if (change?.[2] !== undefined) out.set(idAddress(change[0]), change[2])
    yield
  }
  return out
}
