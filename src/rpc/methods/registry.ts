/** Methods about the verified registry: who may give data cap, who has it, what it was used for. */
import { type ChainView, resolveId } from '../../chain/chainView.ts'
import { clientDataCap, registryState, verifierDataCap } from '../../chain/queries/dataCap.ts'
import { MarketActor } from '../../chain/queries/marketActor.ts'
import { allocations, claims } from '../../chain/queries/registry.ts'
import type { StateTree } from '../../state/stateTree.ts'
import { allocation, verifregClaim } from '../../state/verifreg.ts'
import type { Address } from '../../types/address.ts'
import type { ActorId } from '../../types/scalars.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { numberedListing } from '../listing.ts'
import { listMethod, type MethodRow, method } from '../method.ts'
import {
  stateGetAllAllocations,
  stateGetAllClaims,
  stateGetAllocation,
  stateGetAllocationForPendingDeal,
  stateGetAllocationIdForPendingDeal,
  stateGetAllocations,
  stateGetClaim,
  stateGetClaims,
  stateVerifiedClientStatus,
  stateVerifiedRegistryRootKey,
  stateVerifierStatus,
} from '../signatures/registry.ts'
import { loadTipset } from './chain.ts'

/** Rows about the verified registry. */
export function registryMethods(view: ChainView): MethodRow[] {
  const treeAt = (key: TipsetKey): StateTree => view.stateBefore(loadTipset(view, key))
  const idIn = (tree: StateTree, who: Address): ActorId => {
    const id = resolveId(tree, who)
    if (id === undefined) throw new RpcError('ACTOR_NOT_FOUND', 'actor not found')
    return id
  }
  return [
    method({
      ...stateVerifiedRegistryRootKey,
      handler: (key) => registryState(view, treeAt(key)).state.rootKey,
    }),
    method({
      ...stateVerifierStatus,
      handler: (who, key) => {
        const tree = treeAt(key)
        return verifierDataCap(view, tree, idIn(tree, who)) ?? null
      },
    }),
    method({
      ...stateVerifiedClientStatus,
      handler: (who, key) => {
        const tree = treeAt(key)
        return clientDataCap(view, tree, idIn(tree, who)) ?? null
      },
    }),
    method({
      ...stateGetAllocation,
      handler: (who, number, key) => {
        const tree = treeAt(key)
        return allocations(view, tree).get(idIn(tree, who), number) ?? null
      },
    }),
    listMethod({
      ...stateGetAllocations,
      list: (who, key) => {
        const tree = treeAt(key)
        const id = idIn(tree, who)
        const found = allocations(view, tree)
        return numberedListing(allocation, () => found.of(id))
      },
    }),
    listMethod({
      ...stateGetAllAllocations,
      list: (key) => {
        const found = allocations(view, treeAt(key))
        return numberedListing(allocation, () => found.all())
      },
    }),
    method({
      ...stateGetAllocationIdForPendingDeal,
      handler: (deal, key) => new MarketActor(view, treeAt(key)).pendingAllocation(deal),
    }),
    method({
      ...stateGetAllocationForPendingDeal,
      handler: (deal, key) => {
        const tree = treeAt(key)
        const market = new MarketActor(view, tree)
        const number = market.pendingAllocation(deal)
        if (number === 0) return null
        return allocations(view, tree).get(idIn(tree, market.requiredDeal(deal).proposal.client), number) ?? null
      },
    }),
    method({
      ...stateGetClaim,
      handler: (who, number, key) => {
        const tree = treeAt(key)
        return claims(view, tree).get(idIn(tree, who), number) ?? null
      },
    }),
    listMethod({
      ...stateGetClaims,
      list: (who, key) => {
        const tree = treeAt(key)
        const id = idIn(tree, who)
        const found = claims(view, tree)
        return numberedListing(verifregClaim, () => found.of(id))
      },
    }),
    listMethod({
      ...stateGetAllClaims,
      list: (key) => {
        const found = claims(view, treeAt(key))
        return numberedListing(verifregClaim, () => found.all())
      },
    }),
  ]
}
