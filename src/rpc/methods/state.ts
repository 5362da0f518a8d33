/** Methods `State…` that read states, messages and randomness of the chain. */
import type { Steps, Walk } from '../../base/steps.ts'
import { accountKey, actorOf, robustAddress } from '../../chain/actorLookup.ts'
import type { ActorStates } from '../../chain/actorStates.ts'
import { type ChainView, resolveId } from '../../chain/chainView.ts'
import { ChainError } from '../../chain/errors.ts'
import { listMessages } from '../../chain/listMessages.ts'
import { stateRootAfter } from '../../chain/recordedState.ts'
import type { VmHost } from '../../chain/vm.ts'
import type { Cid } from '../../codec/cid.ts'
import { mockBeacon, mockBeaconEntry } from '../../consensus/beacon.ts'
import { drawRandomnessFromDigest } from '../../crypto/drawRandomness.ts'
import { walkFetching } from '../../ipld/found.ts'
import { type ActorsManifest, actorsVersionFor, manifestFor } from '../../networks/network.ts'
import { legacyActors } from '../../state/manifest.ts'
import { address, idAddress, isIdAddress } from '../../types/address.ts'
import type { BeaconEntry } from '../../types/blockHeader.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { awaitInContext, inContext } from '../inContext.ts'
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
      handler: (key) => view.networkVersion(loadTipset(view, key).height),
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
  const treeOf = (key: TipsetKey): ReturnType<ChainView['stateBefore']> => view.stateBefore(loadTipset(view, key))
  return [
    method({
      ...stateGetActor,
      handler: (who, key) => actorOf(view, treeOf(key), who),
    }),
    method({
      ...stateLookupID,
      handler: (who, key) => {
        // An ID address is echoed without a look at the state.
        if (isIdAddress(who)) return who
        const id = resolveId(treeOf(key), who)
        if (id === undefined) throw new RpcError('ACTOR_NOT_FOUND', 'actor not found')
        return idAddress(id)
      },
    }),
    method({
      ...stateLookupRobustAddress,
      handler: (who, key, call) => walkFetching(robustAddress(view, treeOf(key), who), call),
    }),
    method({
      ...stateAccountKey,
      handler: async (who, key, call) => {
        const tipset = loadTipset(view, key)
        try {
          return accountKey(view, view.stateBefore(tipset), who)
        } catch (error) {
          // Executing the tipset can create the actor, but makes no other actor an account.
          if (!(error instanceof ChainError) || error.code !== 'ACTOR_NOT_FOUND') throw error
        }
        return accountKey(view, view.stateTree(await stateRootAfter(tipset, view.store, vm, call)), who)
      },
    }),
    listMethod({
      ...stateListActors,
      list: (key) => {
        const tree = treeOf(key)
        return listing(address, () => tree.ids())
      },
    }),
    method({
      ...stateReadState,
      handler: (who, key, call) => {
        const actor = inContext('getting actor: ', () => actorOf(view, treeOf(key), who))
        return { balance: actor.balance, code: actor.code, state: states.json(actor, call.json) }
      },
    }),
  ]
}

function randomnessMethods(view: ChainView): MethodRow[] {
  const source = (key: TipsetKey): ReturnType<ChainView['randomness']> => view.randomness(loadTipset(view, key))
  const draw = (digest: Uint8Array, purpose: bigint, at: number, extra: Uint8Array): Uint8Array =>
    drawRandomnessFromDigest(digest, Number(purpose), at, extra)
  // The empty key is no head here. @see lotus chain/stmgr/stmgr.go GetRandomnessFromTickets
  const tickets = async (
    purpose: bigint,
    at: number,
    extra: Uint8Array,
    key: TipsetKey,
    walk: Walk,
  ): Promise<Uint8Array> => {
    const tipset = inContext('loading tipset key: ', () => view.store.tipset(key))
    const digest = walked(walk, () => view.randomness(tipset).findTicketDigest(at))
    return draw(await awaitInContext('getting chain randomness: ', digest), purpose, at, extra)
  }
  const beacon = async (
    purpose: bigint,
    at: number,
    extra: Uint8Array,
    key: TipsetKey,
    walk: Walk,
  ): Promise<Uint8Array> => {
    const digest = walked(walk, () => source(key).findBeaconDigest(at))
    return draw(await awaitInContext('getting beacon randomness: ', digest), purpose, at, extra)
  }
  return [
    method({
      ...stateGetRandomnessFromTickets,
      handler: (purpose, at, extra, key, { walk }) => tickets(purpose, at, extra, key, walk),
    }),
    method({
      ...stateGetRandomnessFromBeacon,
      handler: (purpose, at, extra, key, { walk }) => beacon(purpose, at, extra, key, walk),
    }),
    method({
      ...chainGetRandomnessFromTickets,
      handler: (key, purpose, at, extra, { walk }) => tickets(purpose, at, extra, key, walk),
    }),
    method({
      ...chainGetRandomnessFromBeacon,
      handler: (key, purpose, at, extra, { walk }) => beacon(purpose, at, extra, key, walk),
    }),
    method({
      ...stateGetRandomnessDigestFromTickets,
      handler: (at, key, { walk }) => walk(source(key).findTicketDigest(at)),
    }),
    method({
      ...stateGetRandomnessDigestFromBeacon,
      handler: (at, key, { walk }) => walk(source(key).findBeaconDigest(at)),
    }),
    ...beaconMethods(view),
  ]
}

/** A walk's result as a promise, also where the walk fails at once. */
async function walked<T>(walk: Walk, steps: () => Steps<T>): Promise<T> {
  return walk(steps())
}

/** Above the head it comes from the beacon. @see lotus node/impl/full/state.go StateGetBeaconEntry */
function beaconMethods(view: ChainView): MethodRow[] {
  const entryOf = (at: number, walk: Walk): BeaconEntry | Promise<BeaconEntry> => {
    const head = view.store.head()
    if (at > head.height) {
      if (view.network.beacon.kind === 'mock') return mockBeaconEntry(mockBeacon.roundAt(at))
      throw new RpcError('FAILED', `not supported: beacon entries after the head (epoch ${at}, head ${head.height})`)
    }
    return walk(view.randomness(head).findBeaconEntry(Math.max(0, at)))
  }
  return [
    method({
      ...stateGetBeaconEntry,
      handler: (at, { walk }) => entryOf(at, walk),
    }),
    method({
      ...beaconGetEntry,
      handler: (at, { walk }) => entryOf(at, walk),
    }),
  ]
}

function messageMethods({ view }: StateMethodsDeps): MethodRow[] {
  return [
    method({
      ...stateListMessages,
      handler: (match, key, toHeight, { walk }): Cid[] | Promise<Cid[]> =>
        walk(listMessages(view, match, loadTipset(view, key), toHeight)),
    }),
  ]
}
