/** Methods about the verified registry: who may give data cap, who has it, what it was used for. */
import { type ChainView, resolveId } from '../../chain/chainView.ts'
import { clientDataCap, registryState, verifierDataCap } from '../../chain/queries/dataCap.ts'
import { MarketActor } from '../../chain/queries/marketActor.ts'
import { allocations, claims } from '../../chain/queries/registry.ts'
import { type Codec, jsonOnly, named, nullable, uint } from '../../codec/description.ts'
import type { Json } from '../../codec/jsonText.ts'
import { dealId, storagePower } from '../../state/scalars.ts'
import type { StateTree } from '../../state/stateTree.ts'
import { allocation, verifregClaim } from '../../state/verifreg.ts'
import { type Address, address } from '../../types/address.ts'
import type { ActorId } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method, param } from '../method.ts'
import { loadTipset } from './chain.ts'

const key = param('tipsetKey', tipsetKey)

/** Go's map by number: JSON object whose keys are decimal. */
function mapByNumber<T>(inner: Codec<T>): Codec<ReadonlyMap<number, T>> {
  return jsonOnly<ReadonlyMap<number, T>>(
    `map[uint64]${inner.name}`,
    (value, context) => {
      const out: { [key: string]: Json } = {}
      for (const [number, one] of value) out[String(number)] = inner.toJson(one, context)
      return out
    },
    () => new Map(),
    { type: 'object', additionalProperties: inner.schema },
  )
}

const allocationMap = mapByNumber(allocation)
const claimMap = mapByNumber(verifregClaim)

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
      name: 'StateVerifiedRegistryRootKey',
      perm: 'read',
      summary: 'The address that may name verifiers.',
      params: [key],
      result: address,
      handler: (one) => registryState(view, treeAt(one)).state.rootKey,
    }),
    method({
      name: 'StateVerifierStatus',
      perm: 'read',
      summary: 'Data cap that a verifier may still give, bytes; null for who is none.',
      params: [param('address', address), key],
      result: nullable(storagePower),
      handler: (who, one) => verifierDataCap(view, treeAt(one), who) ?? null,
    }),
    method({
      name: 'StateVerifiedClientStatus',
      perm: 'read',
      summary: 'Data cap that a client has, bytes; null for who has none.',
      params: [param('address', address), key],
      result: nullable(storagePower),
      handler: (who, one) => clientDataCap(view, treeAt(one), who) ?? null,
    }),
    method({
      name: 'StateGetAllocation',
      perm: 'read',
      summary: "A client's allocation; null when there is none of that number.",
      params: [param('clientAddr', address), param('allocationId', uint), key],
      result: nullable(allocation),
      handler: (who, number, one) => {
        const tree = treeAt(one)
        return allocations(view, tree).get(idIn(tree, who), number) ?? null
      },
    }),
    method({
      name: 'StateGetAllocations',
      perm: 'read',
      summary: "A client's allocations by number.",
      params: [param('clientAddr', address), key],
      result: allocationMap,
      handler: (who, one) => {
        const tree = treeAt(one)
        return allocations(view, tree).of(idIn(tree, who))
      },
    }),
    method({
      name: 'StateGetAllAllocations',
      perm: 'read',
      summary: 'All allocations by number.',
      params: [key],
      result: allocationMap,
      handler: (one) => allocations(view, treeAt(one)).all(),
    }),
    method({
      name: 'StateGetAllocationIdForPendingDeal',
      perm: 'read',
      versions: ['v1'],
      summary: 'The allocation of a verified deal that waits for its sector; 0: none.',
      params: [param('dealId', dealId), key],
      result: named(uint, 'verifreg.AllocationId'),
      handler: (deal, one) => new MarketActor(view, treeAt(one)).pendingAllocation(deal),
    }),
    method({
      name: 'StateGetAllocationForPendingDeal',
      perm: 'read',
      summary: 'The allocation of a verified deal that waits for its sector; null: none.',
      params: [param('dealId', dealId), key],
      result: nullable(allocation),
      handler: (deal, one) => {
        const tree = treeAt(one)
        const market = new MarketActor(view, tree)
        const number = market.pendingAllocation(deal)
        if (number === 0) return null
        return allocations(view, tree).get(idIn(tree, market.requiredDeal(deal).proposal.client), number) ?? null
      },
    }),
    method({
      name: 'StateGetClaim',
      perm: 'read',
      summary: "A provider's claim; null when there is none of that number.",
      params: [param('providerAddr', address), param('claimId', uint), key],
      result: nullable(verifregClaim),
      handler: (who, number, one) => {
        const tree = treeAt(one)
        return claims(view, tree).get(idIn(tree, who), number) ?? null
      },
    }),
    method({
      name: 'StateGetClaims',
      perm: 'read',
      summary: "A provider's claims by number.",
      params: [param('providerAddr', address), key],
      result: claimMap,
      handler: (who, one) => {
        const tree = treeAt(one)
        return claims(view, tree).of(idIn(tree, who))
      },
    }),
    method({
      name: 'StateGetAllClaims',
      perm: 'read',
      summary: 'All claims by number.',
      params: [key],
      result: claimMap,
      handler: (one) => claims(view, treeAt(one)).all(),
    }),
  ]
}
