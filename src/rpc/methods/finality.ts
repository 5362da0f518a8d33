/**
 * Methods of `/rpc/v2` that name tipsets by how final they are.
 * @see lotus node/impl/full/chain_v2.go, state_v2.go
 */
import { actorOf } from '../../chain/actorLookup.ts'
import { type ChainView, resolveId } from '../../chain/chainView.ts'
import type { Finality } from '../../consensus/finality.ts'
import { actorV5 } from '../../types/actor.ts'
import { address, idAddress, isIdAddress } from '../../types/address.ts'
import { type Tipset, tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method, param } from '../method.ts'
import { finalityStatus } from '../types/f3.ts'

import { type TipsetAnchor, type TipsetSelector, type TipsetTag, tipsetSelector } from '../types/tipsetSelector.ts'

export interface FinalityMethodsDeps {
  readonly view: ChainView
  readonly finality: Finality
}

const selector = param('tipSetSelector', tipsetSelector)

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
  const select = ({ key, height, tag }: TipsetSelector): Tipset => {
    if (key !== undefined) return store.tipsetOrHead(key)
    if (tag !== undefined) return byTag(tag)
    if (height === undefined) return store.head()
    return store.tipsetByHeight(height.at, byAnchor(height.anchor), height.previous ? 'previous' : 'next')
  }
  return [
    method({
      name: 'ChainGetTipSet',
      perm: 'read',
      versions: ['v2'],
      summary: 'A tipset by key, by height on the chain that an anchor ends, or by tag: latest, finalized, safe.',
      params: [selector],
      result: tipset,
      cacheResult: true,
      handler: select,
    }),
    method({
      name: 'ChainGetTipSetFinalityStatus',
      perm: 'read',
      versions: ['v2'],
      summary: 'Which tipsets are final, and by what: the calculator of FRC-0089, F3, or 900 epochs.',
      params: [],
      result: finalityStatus,
      handler: () => finality.status(),
    }),
    method({
      name: 'StateGetActor',
      perm: 'read',
      versions: ['v2'],
      summary: 'An actor in the state of a tipset.',
      params: [param('address', address), selector],
      result: actorV5,
      handler: (who, one) => actorOf(view, view.stateBefore(select(one)), who),
    }),
    method({
      name: 'StateGetID',
      perm: 'read',
      versions: ['v2'],
      summary: 'The ID address behind an address.',
      params: [param('address', address), selector],
      result: address,
      handler: (who, one) => {
        if (isIdAddress(who)) return who
        const id = resolveId(view.stateBefore(select(one)), who)
        if (id === undefined) throw new RpcError('FAILED', 'looking up ID: resolution lookup failed: actor not found')
        return idAddress(id)
      },
    }),
  ]
}
