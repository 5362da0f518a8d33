/** Methods `State…` that read states, messages and randomness of the chain. */

import { accountKey, actorOf, robustAddress } from '../../chain/actorLookup.ts'
import type { ActorStates } from '../../chain/actorStates.ts'
import { type ChainView, resolveId } from '../../chain/chainView.ts'
import { ChainError } from '../../chain/errors.ts'
import { listMessages } from '../../chain/listMessages.ts'
import type { VmHost } from '../../chain/vm.ts'
import type { Cid } from '../../codec/cid.ts'
import { bytes, type Codec, cid, i64, list, named, nullable } from '../../codec/description.ts'
import { drawRandomnessFromDigest } from '../../crypto/drawRandomness.ts'
import { type ActorsManifest, actorsVersionFor, manifestFor } from '../../networks/network.ts'
import { type Address, address, idAddress, isIdAddress } from '../../types/address.ts'
import { beaconEntry } from '../../types/blockHeader.ts'
import { chainEpoch, networkVersion } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method, param } from '../method.ts'
import {
  stateAccountKey,
  stateGetActor,
  stateLookupID,
  stateNetworkName,
  stateNetworkVersion,
} from '../signatures/state.ts'
import { apiActorState, codeCids, messageMatch } from '../types/state.ts'
import { loadTipset } from './chain.ts'

/** What the methods need. */
export interface StateMethodsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'tipsetState'>
  readonly states: ActorStates
}

const actorParam = param('actor', address)
const key = param('tipsetKey', tipsetKey)
const tag: Codec<bigint> = named(i64, 'crypto.DomainSeparationTag')
const entropy = param('entropy', bytes)

/** Rows of `State…`. */
export function stateMethods(deps: StateMethodsDeps): MethodRow[] {
  return [...networkMethods(deps), ...actorMethods(deps), ...randomnessMethods(deps.view), ...messageMethods(deps)]
}

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
      name: 'StateActorCodeCIDs',
      perm: 'read',
      summary: 'Code CIDs of the built-in actors of a network version.',
      params: [param('networkVersion', networkVersion)],
      result: codeCids,
      handler: (version) => manifestOf(view, version).actors,
    }),
    method({
      name: 'StateActorManifestCID',
      perm: 'read',
      summary: "CID of the actors' manifest of a network version.",
      params: [param('networkVersion', networkVersion)],
      result: cid,
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
      name: 'StateLookupRobustAddress',
      perm: 'read',
      summary: 'The address that the init actor maps to an ID; scans its whole map.',
      params: [param('idAddress', address), key],
      result: address,
      handler: (who, one) => robustAddress(view, treeOf(one), who),
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
    method({
      name: 'StateListActors',
      perm: 'read',
      summary: 'ID addresses of all actors, in the order of the state tree.',
      params: [key],
      result: list(address),
      handler: (one) => {
        const out: Address[] = []
        treeOf(one).forEach((id) => {
          out.push(idAddress(id))
        })
        return out
      },
    }),
    method({
      name: 'StateReadState',
      perm: 'read',
      summary: "An actor's state as JSON.",
      params: [actorParam, key],
      result: apiActorState,
      handler: (who, one, call) => {
        const actor = actorOf(view, treeOf(one), who)
        return { balance: actor.balance, code: actor.code, state: states.json(actor, call.json) }
      },
    }),
  ]
}

function randomnessMethods(view: ChainView): MethodRow[] {
  const epoch = param('randEpoch', chainEpoch)
  const source = (one: TipsetKey): ReturnType<ChainView['randomness']> => view.randomness(loadTipset(view, one))
  const draw = (digest: Uint8Array, purpose: bigint, at: number, extra: Uint8Array): Uint8Array =>
    drawRandomnessFromDigest(digest, Number(purpose), at, extra)
  const tickets = (purpose: bigint, at: number, extra: Uint8Array, one: TipsetKey): Uint8Array =>
    draw(source(one).ticketDigest(at), purpose, at, extra)
  const beacon = (purpose: bigint, at: number, extra: Uint8Array, one: TipsetKey): Uint8Array =>
    draw(source(one).beaconDigest(at), purpose, at, extra)
  return [
    method({
      name: 'StateGetRandomnessFromTickets',
      perm: 'read',
      versions: ['v1'],
      summary: 'Randomness drawn from the ticket at an epoch.',
      params: [param('personalization', tag), epoch, entropy, key],
      result: bytes,
      handler: (purpose, at, extra, one) => tickets(purpose, at, extra, one),
    }),
    method({
      name: 'StateGetRandomnessFromBeacon',
      perm: 'read',
      versions: ['v1'],
      summary: 'Randomness drawn from the beacon entry of an epoch.',
      params: [param('personalization', tag), epoch, entropy, key],
      result: bytes,
      handler: (purpose, at, extra, one) => beacon(purpose, at, extra, one),
    }),
    method({
      name: 'ChainGetRandomnessFromTickets',
      perm: 'read',
      versions: ['v0'],
      permName: 'StateGetRandomnessFromTickets',
      summary: 'Randomness drawn from the ticket at an epoch.',
      params: [key, param('personalization', tag), epoch, entropy],
      result: bytes,
      handler: (one, purpose, at, extra) => tickets(purpose, at, extra, one),
    }),
    method({
      name: 'ChainGetRandomnessFromBeacon',
      perm: 'read',
      versions: ['v0'],
      permName: 'StateGetRandomnessFromBeacon',
      summary: 'Randomness drawn from the beacon entry of an epoch.',
      params: [key, param('personalization', tag), epoch, entropy],
      result: bytes,
      handler: (one, purpose, at, extra) => beacon(purpose, at, extra, one),
    }),
    method({
      name: 'StateGetRandomnessDigestFromTickets',
      perm: 'read',
      versions: ['v1'],
      summary: 'Hash of the ticket at an epoch.',
      params: [epoch, key],
      result: bytes,
      handler: (at, one) => source(one).ticketDigest(at),
    }),
    method({
      name: 'StateGetRandomnessDigestFromBeacon',
      perm: 'read',
      versions: ['v1'],
      summary: 'Hash of the beacon entry of an epoch.',
      params: [epoch, key],
      result: bytes,
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
  const epoch = param('epoch', chainEpoch)
  return [
    method({
      name: 'StateGetBeaconEntry',
      perm: 'read',
      versions: ['v1'],
      summary: 'The beacon entry of an epoch.',
      params: [epoch],
      result: nullable(beaconEntry),
      handler: (at) => entryOf(at),
    }),
    method({
      name: 'BeaconGetEntry',
      perm: 'read',
      versions: ['v0'],
      permName: 'StateGetBeaconEntry',
      summary: 'The beacon entry of an epoch.',
      params: [epoch],
      result: nullable(beaconEntry),
      handler: (at) => entryOf(at),
    }),
  ]
}

function messageMethods({ view }: StateMethodsDeps): MethodRow[] {
  return [
    method({
      name: 'StateListMessages',
      perm: 'read',
      summary: 'CIDs of messages to or from an address, from a tipset back to a height.',
      params: [param('match', messageMatch), key, param('toHeight', chainEpoch)],
      result: list(cid),
      handler: (match, one, toHeight): Cid[] => listMessages(view, match, loadTipset(view, one), toHeight),
    }),
  ]
}
