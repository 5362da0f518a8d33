/** Methods `State…` that read states, messages and randomness of the chain. */
import { accountKey, actorOf, robustAddress } from '../../chain/actorLookup.ts'
import type { ActorStates } from '../../chain/actorStates.ts'
import { type ChainView, resolveId } from '../../chain/chainView.ts'
import { ChainError } from '../../chain/errors.ts'
import { listMessages } from '../../chain/listMessages.ts'
import type { VmHost } from '../../chain/vm.ts'
import type { Cid } from '../../codec/cid.ts'
import { drawRandomnessFromDigest } from '../../crypto/drawRandomness.ts'
import { type ActorsManifest, actorsVersionFor, manifestFor } from '../../networks/network.ts'
import { legacyActors } from '../../state/manifest.ts'
import type { StateTree } from '../../state/stateTree.ts'
import { type Address, address, idAddress, isIdAddress } from '../../types/address.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { inContext } from '../inContext.ts'
import { listing } from '../listing.ts'
import { listMethod, type MethodRow, method } from '../method.ts'
import {
  beaconGetEntry,
  chainGetRandomnessFromBeacon,
  chainGetRandomnessFromTickets,
  stateAccountKey,
  stateActorCodeCIDs,
  stateActorManifestCID,
  stateGetActor,
  stateGetBeaconEntry,
  stateGetRandomnessDigestFromBeacon,
  stateGetRandomnessDigestFromTickets,
  stateGetRandomnessFromBeacon,
  stateGetRandomnessFromTickets,
  stateListActors,
  stateListMessages,
  stateLookupID,
  stateLookupRobustAddress,
  stateNetworkName,
  stateNetworkVersion,
  stateReadState,
} from '../signatures/state.ts'
import { loadTipset } from './chain.ts'

/** What the methods need. */
export interface StateMethodsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'tipsetState'>
  readonly states: ActorStates
}

/** Rows of `State…`. */
export function stateMethods(deps: StateMethodsDeps): MethodRow[] {
  return [...networkMethods(deps), ...actorMethods(deps), ...randomnessMethods(deps.view), ...messageMethods(deps)]
}

/** Actors version from which on a manifest names the codes. */
const FIRST_MANIFEST = 8

function networkMethods({ view }: StateMethodsDeps): MethodRow[] {
  return [
    method({
      ...stateNetworkName,
      handler: () => view.networkName(),
    }),
    method({
      ...stateNetworkVersion,
      handler: (one) => view.networkVersion(loadTipset(view, one).height),
    }),
    method({
      ...stateActorCodeCIDs,
      handler: (version) => {
        const actorsVersion = actorsVersionFor(version)
        return actorsVersion < FIRST_MANIFEST ? legacyActors(actorsVersion) : manifestOf(view, version).actors
      },
    }),
    method({
      ...stateActorManifestCID,
      handler: (version) => manifestOf(view, version).manifestCid,
    }),
  ]
}

function manifestOf(view: ChainView, version: number): ActorsManifest {
  const actorsVersion = actorsVersionFor(version)
  const manifest = manifestFor(view.network, actorsVersion)
  if (manifest === undefined) {
    const text = `could not find manifest cid for network version ${version}, actors version ${actorsVersion}`
    throw new RpcError('FAILED', text)
  }
  return manifest
}

function actorMethods({ view, vm, states }: StateMethodsDeps): MethodRow[] {
  const treeOf = (one: TipsetKey): ReturnType<ChainView['stateBefore']> => view.stateBefore(loadTipset(view, one))
  return [
    method({
      ...stateGetActor,
      handler: (who, one) => actorOf(view, treeOf(one), who),
    }),
    method({
      ...stateLookupID,
      handler: (who, one) => {
        // An ID address is echoed without a look at the state.
        if (isIdAddress(who)) return who
        const id = resolveId(treeOf(one), who)
        if (id === undefined) throw new RpcError('ACTOR_NOT_FOUND', 'actor not found')
        return idAddress(id)
      },
    }),
    method({
      ...stateLookupRobustAddress,
      handler: (who, one, { walk }) => walk(robustAddress(view, treeOf(one), who)),
    }),
    method({
      ...stateAccountKey,
      handler: async (who, one) => {
        const tipset = loadTipset(view, one)
        try {
          return accountKey(view, view.stateBefore(tipset), who)
        } catch (error) {
          // Executing the tipset can create the actor, but makes no other actor an account.
          if (!(error instanceof ChainError) || error.code !== 'ACTOR_NOT_FOUND') throw error
        }
        const { stateRoot } = await vm.tipsetState(tipset)
        return accountKey(view, view.stateTree(stateRoot), who)
      },
    }),
    listMethod({
      ...stateListActors,
      list: (one) => listing(address, listActors(treeOf(one))),
    }),
    method({
      ...stateReadState,
      handler: (who, one, call) => {
        const actor = inContext('getting actor: ', () => actorOf(view, treeOf(one), who))
        return { balance: actor.balance, code: actor.code, state: states.json(actor, call.json) }
      },
    }),
  ]
}

function* listActors(tree: StateTree): IterableIterator<Address> {
  for (const [id] of tree.entries()) yield idAddress(id)
}

function randomnessMethods(view: ChainView): MethodRow[] {
  const source = (one: TipsetKey): ReturnType<ChainView['randomness']> => view.randomness(loadTipset(view, one))
  const draw = (digest: Uint8Array, purpose: bigint, at: number, extra: Uint8Array): Uint8Array =>
    drawRandomnessFromDigest(digest, Number(purpose), at, extra)
  // The empty key is no head here. @see lotus chain/stmgr/stmgr.go GetRandomnessFromTickets
  const tickets = (purpose: bigint, at: number, extra: Uint8Array, one: TipsetKey): Uint8Array => {
    const tipset = inContext('loading tipset key: ', () => view.store.tipset(one))
    const digest = inContext('getting chain randomness: ', () => view.randomness(tipset).ticketDigest(at))
    return draw(digest, purpose, at, extra)
  }
  const beacon = (purpose: bigint, at: number, extra: Uint8Array, one: TipsetKey): Uint8Array => {
    const digest = inContext('getting beacon randomness: ', () => source(one).beaconDigest(at))
    return draw(digest, purpose, at, extra)
  }
  return [
    method({
      ...stateGetRandomnessFromTickets,
      handler: (purpose, at, extra, one) => tickets(purpose, at, extra, one),
    }),
    method({
      ...stateGetRandomnessFromBeacon,
      handler: (purpose, at, extra, one) => beacon(purpose, at, extra, one),
    }),
    method({
      ...chainGetRandomnessFromTickets,
      handler: (one, purpose, at, extra) => tickets(purpose, at, extra, one),
    }),
    method({
      ...chainGetRandomnessFromBeacon,
      handler: (one, purpose, at, extra) => beacon(purpose, at, extra, one),
    }),
    method({
      ...stateGetRandomnessDigestFromTickets,
      handler: (at, one) => source(one).ticketDigest(at),
    }),
    method({
      ...stateGetRandomnessDigestFromBeacon,
      handler: (at, one) => source(one).beaconDigest(at),
    }),
    ...beaconMethods(view),
  ]
}

function beaconMethods(view: ChainView): MethodRow[] {
  const entryOf = (at: number): ReturnType<ReturnType<ChainView['randomness']>['beaconEntry']> => {
    const head = view.store.head()
    if (at > head.height) {
      throw new RpcError('FAILED', `not supported: beacon entries after the head (epoch ${at}, head ${head.height})`)
    }
    return view.randomness(head).beaconEntry(Math.max(0, at))
  }
  return [
    method({
      ...stateGetBeaconEntry,
      handler: (at) => entryOf(at),
    }),
    method({
      ...beaconGetEntry,
      handler: (at) => entryOf(at),
    }),
  ]
}

function messageMethods({ view }: StateMethodsDeps): MethodRow[] {
  return [
    method({
      ...stateListMessages,
      handler: (match, one, toHeight, { walk }): Cid[] | Promise<Cid[]> =>
        walk(listMessages(view, match, loadTipset(view, one), toHeight)),
    }),
  ]
}
