/** Methods about the verified registry: who may give data cap, who has it, what it was used for. */
import { type ChainView, resolveId } from '../../chain/chainView.ts'
import { clientDataCap, registryState, verifierDataCap } from '../../chain/queries/dataCap.ts'
import { MarketActor } from '../../chain/queries/marketActor.ts'
import { allocations, claims } from '../../chain/queries/registry.ts'
import type { StateTree } from '../../state/stateTree.ts'
import type { Address } from '../../types/address.ts'
import type { ActorId } from '../../types/scalars.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method } from '../method.ts'
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
  const treeAt = (one: TipsetKey): StateTree => view.stateBefore(loadTipset(view, one))
  const idIn = (tree: StateTree, who: Address): ActorId => {
    const id = resolveId(tree, who)
    if (id === undefined) throw new RpcError('ACTOR_NOT_FOUND', 'actor not found')
    return id
  }
  return [
    method({
      ...stateVerifiedRegistryRootKey,
      handler: (one) => registryState(view, treeAt(one)).state.rootKey,
    }),
    method({
      ...stateVerifierStatus,
      handler: (who, one) => {
        const tree = treeAt(one)
        return verifierDataCap(view, tree, idIn(tree, who)) ?? null
      },
    }),
    method({
      ...stateVerifiedClientStatus,
      handler: (who, one) => {
        const tree = treeAt(one)
        return clientDataCap(view, tree, idIn(tree, who)) ?? null
      },
    }),
    method({
      ...stateGetAllocation,
      handler: (who, number, one) => {
        const tree = treeAt(one)
        return allocations(view, tree).get(idIn(tree, who), number) ?? null
      },
    }),
    method({
      ...stateGetAllocations,
      handler: (who, one, { walk }) => {
        const tree = treeAt(one)
        return walk(allocations(view, tree).of(idIn(tree, who)))
      },
    }),
    method({
      ...stateGetAllAllocations,
      handler: (one, { walk }) => walk(allocations(view, treeAt(one)).all()),
    }),
    method({
      ...stateGetAllocationIdForPendingDeal,
      handler: (deal, one) => new MarketActor(view, treeAt(one)).pendingAllocation(deal),
    }),
    method({
      ...stateGetAllocationForPendingDeal,
      handler: (deal, one) => {
        const tree = treeAt(one)
        const market = new MarketActor(view, tree)
        const number = market.pendingAllocation(deal)
        if (number === 0) return null
        return allocations(view, tree).get(idIn(tree, market.requiredDeal(deal).proposal.client), number) ?? null
      },
    }),
    method({
      ...stateGetClaim,
      handler: (who, number, one) => {
        const tree = treeAt(one)
        return claims(view, tree).get(idIn(tree, who), number) ?? null
      },
    }),
    method({
      ...stateGetClaims,
      handler: (who, one, { walk }) => {
        const tree = treeAt(one)
        return walk(claims(view, tree).of(idIn(tree, who)))
      },
    }),
    method({
      ...stateGetAllClaims,
      handler: (one, { walk }) => walk(claims(view, treeAt(one)).all()),
    }),
  ]
}
