/** Methods about the network as a whole: supply, parameters, market, differences of states. */
import type { ChainView } from '../../chain/chainView.ts'
import { resolveId } from '../../chain/chainView.ts'
import { MarketActor, type MarketDeal } from '../../chain/queries/marketActor.ts'
import { spendableSupply } from '../../chain/queries/spendableSupply.ts'
import { bool, cid, named, u64 } from '../../codec/description.ts'
import { circulatingSupply } from '../../execution/circulatingSupply.ts'
import { PledgePrices } from '../../execution/pledgePrices.ts'
import { dealId } from '../../state/scalars.ts'
import type { StateTree } from '../../state/stateTree.ts'
import type { ActorState } from '../../types/actor.ts'
import { type Address, address, idAddress } from '../../types/address.ts'
import { tokenAmount } from '../../types/scalars.ts'
import { firstBlock, type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method, param } from '../method.ts'
import {
  apiCirculatingSupply,
  apiCollateralBounds,
  apiMarketBalance,
  apiMarketDeal,
  apiNetworkParams,
  changedActors,
  marketDeals,
  marketParticipants,
} from '../types/network.ts'
import { loadTipset } from './chain.ts'

const key = param('tipsetKey', tipsetKey)

/** Rows about the network as a whole. */
export function networkMethods(view: ChainView): MethodRow[] {
  return [...supplyMethods(view), ...marketMethods(view), ...stateMethods(view)]
}

function treeAt(view: ChainView, one: TipsetKey): StateTree {
  return view.stateBefore(loadTipset(view, one))
}

function supplyMethods(view: ChainView): MethodRow[] {
  return [
    method({
      name: 'StateVMCirculatingSupplyInternal',
      perm: 'read',
      summary: 'The circulating supply that actors see, with its parts.',
      params: [key],
      result: apiCirculatingSupply,
      handler: (one) => {
        const tipset = loadTipset(view, one)
        return circulatingSupply(view.network, tipset.height, view.stateBefore(tipset))
      },
    }),
    method({
      name: 'StateCirculatingSupply',
      perm: 'read',
      summary: 'The exact circulating supply; walks the whole state.',
      params: [key],
      result: tokenAmount,
      handler: (one) => {
        const tipset = loadTipset(view, one)
        return spendableSupply(view, view.stateBefore(tipset), tipset.height - 1)
      },
    }),
    method({
      name: 'StateGetNetworkParams',
      perm: 'read',
      summary: 'Parameters and upgrade heights of the network.',
      params: [],
      result: apiNetworkParams,
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
      name: 'StateMarketBalance',
      perm: 'read',
      summary: 'What an address has in the storage market.',
      params: [param('address', address), key],
      result: apiMarketBalance,
      handler: (who, one) => {
        const tree = treeAt(view, one)
        const id = resolveId(tree, who)
        if (id === undefined) throw new RpcError('ACTOR_NOT_FOUND', 'actor not found')
        return new MarketActor(view, tree).balance(idAddress(id))
      },
    }),
    method({
      name: 'StateMarketParticipants',
      perm: 'read',
      summary: 'Everyone with something in the storage market.',
      params: [key],
      result: marketParticipants,
      handler: (one) => new MarketActor(view, treeAt(view, one)).participants(),
    }),
    method({
      name: 'StateMarketDeals',
      perm: 'read',
      summary: 'All deals by their id; large on mainnet.',
      params: [key],
      result: marketDeals,
      handler: (one) => {
        const out = new Map<number, MarketDeal>()
        new MarketActor(view, treeAt(view, one)).forEachDeal((id, deal) => out.set(id, deal))
        return out
      },
    }),
    method({
      name: 'StateMarketStorageDeal',
      perm: 'read',
      summary: 'One deal.',
      params: [param('dealId', dealId), key],
      result: apiMarketDeal,
      handler: (id, one) => new MarketActor(view, treeAt(view, one)).requiredDeal(id),
    }),
    method({
      name: 'StateMarketProposalPending',
      perm: 'read',
      versions: ['v1'],
      summary: 'Whether a published deal waits for its sector.',
      params: [param('proposalCid', cid), key],
      result: bool,
      handler: (proposal, one) => new MarketActor(view, treeAt(view, one)).isPending(proposal),
    }),
    method({
      name: 'StateDealProviderCollateralBounds',
      perm: 'read',
      summary: "What a deal's provider may put up, attoFIL; the least with a margin of a tenth.",
      params: [param('size', named(u64, 'abi.PaddedPieceSize')), param('verified', bool), key],
      result: apiCollateralBounds,
      handler: (size, _verified, one) => new PledgePrices(view, loadTipset(view, one)).dealCollateral(size),
    }),
  ]
}

function stateMethods(view: ChainView): MethodRow[] {
  return [
    method({
      name: 'StateChangedActors',
      perm: 'read',
      summary: 'Actors that are new or different in the second state.',
      params: [param('old', cid), param('new', cid)],
      result: changedActors,
      handler: (before, after) => {
        const out = new Map<Address, ActorState>()
        view.stateTree(before).diff(view.stateTree(after), (id, _old, now) => {
          if (now !== undefined) out.set(idAddress(id), now)
        })
        return out
      },
    }),
  ]
}
