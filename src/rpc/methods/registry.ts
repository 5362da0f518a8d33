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
    method({
      ...stateGetAllocations,
      handler: (who, key, { walk }) => {
        const tree = treeAt(key)
        return walk(allocations(view, tree).of(idIn(tree, who)))
      },
    }),
    method({
      ...stateGetAllAllocations,
      handler: (key, { walk }) => walk(allocations(view, treeAt(key)).all()),
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
    method({
      ...stateGetClaims,
      handler: (who, key, { walk }) => {
        const tree = treeAt(key)
        return walk(claims(view, tree).of(idIn(tree, who)))
      },
    }),
    method({
      ...stateGetAllClaims,
      handler: (key, { walk }) => walk(claims(view, treeAt(key)).all()),
    }),
  ]
}
