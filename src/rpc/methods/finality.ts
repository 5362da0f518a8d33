/**
 * Methods of `/rpc/v2` that name tipsets by how final they are.
 * @see lotus node/impl/full/chain_v2.go, state_v2.go
 */
import type { Steps, Walk } from '../../base/steps.ts'
import { actorOf } from '../../chain/actorLookup.ts'
import { type ChainView, resolveId } from '../../chain/chainView.ts'
import type { Finality } from '../../consensus/finality.ts'
import { idAddress, isIdAddress } from '../../types/address.ts'
import type { Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { awaitInContext } from '../inContext.ts'
import { type MethodRow, method } from '../method.ts'
import { chainGetTipSetFinalityStatus, chainGetTipSetV2, stateGetActorV2, stateGetID } from '../signatures/finality.ts'
import { type TipsetAnchor, type TipsetSelector, type TipsetTag, validSelector } from '../types/tipsetSelector.ts'

/** The chain, and what of it is final. */
export interface FinalityMethodsDeps {
  readonly view: ChainView
  readonly finality: Finality
}

/** Rows of `/rpc/v2` alone. */
export function finalityMethods({ view, finality }: FinalityMethodsDeps): MethodRow[] {
  const { store } = view
  const byTag = (tag: TipsetTag): Tipset => {
    switch (tag) {
      case 'latest':
        return store.head()
      case 'finalized':
        return finality.finalized()
      case 'safe':
        return finality.safe()
    }
    throw new RpcError('FAILED', `unknown tipset tag: ${tag}`)
  }
  const byAnchor = (anchor: TipsetAnchor | undefined): Tipset => {
    if (anchor === undefined) return finality.finalized()
    if (anchor.key !== undefined) return store.tipsetOrHead(anchor.key)
    return anchor.tag === undefined ? store.head() : byTag(anchor.tag)
  }
  function* select(selector: TipsetSelector): Steps<Tipset> {
    const { key, height, tag } = validSelector(selector)
    if (key !== undefined) return store.tipsetOrHead(key)
    if (tag !== undefined) return byTag(tag)
    if (height === undefined) return store.head()
    return yield* store.findByHeight(height.at, byAnchor(height.anchor), height.previous ? 'previous' : 'next')
  }
  const taken = async (selector: TipsetSelector, walk: Walk): Promise<Tipset> => walk(select(selector))
  const selected = (selector: TipsetSelector, walk: Walk): Promise<Tipset> =>
    awaitInContext('getting tipset: ', taken(selector, walk))
  return [
    method({
      ...chainGetTipSetV2,
      handler: (selector, { walk }) => walk(select(selector)),
    }),
    method({
      ...chainGetTipSetFinalityStatus,
      handler: () => finality.status(),
    }),
    method({
      ...stateGetActorV2,
      handler: async (who, selector, { walk }) => actorOf(view, view.stateBefore(await selected(selector, walk)), who),
    }),
    method({
      ...stateGetID,
      handler: async (who, selector, { walk }) => {
        if (isIdAddress(who)) return who
        const id = resolveId(view.stateBefore(await selected(selector, walk)), who)
        if (id === undefined) throw new RpcError('FAILED', 'looking up ID: resolution lookup failed: actor not found')
        return idAddress(id)
      },
    }),
  ]
}
