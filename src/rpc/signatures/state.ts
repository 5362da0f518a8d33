/** Signatures of `State…` that read states. */
import type { Cid } from '../../codec/cid.ts'
import { bytes, type Codec, cid, i64, list, nullable, text } from '../../codec/description.ts'
import { named } from '../../codec/goJson.ts'
import { type ActorState, actorV5 } from '../../types/actor.ts'
import { type Address, address } from '../../types/address.ts'
import { type BeaconEntry, beaconEntry } from '../../types/blockHeader.ts'
import { chainEpoch, networkVersion } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type ApiActorState, apiActorState, codeCids, type MessageMatch, messageMatch } from '../types/state.ts'

const key = param('tipsetKey', tipsetKey)

export const stateNetworkName: CallSignature<[], string> = callSignature({
  name: 'StateNetworkName',
  perm: 'read',
  summary: 'Name of the network, out of the init actor.',
  params: [],
  result: text,
})

export const stateNetworkVersion: CallSignature<readonly [Param<TipsetKey>], number> = callSignature({
  name: 'StateNetworkVersion',
  perm: 'read',
  summary: "Network version at the tipset's own height.",
  params: [key],
  result: networkVersion,
})

export const stateGetActor: CallSignature<readonly [Param<Address>, Param<TipsetKey>], ActorState> = callSignature({
  name: 'StateGetActor',
  perm: 'read',
  summary: "An actor's record in the tipset's parent state.",
  params: [param('actor', address), key],
  result: actorV5,
})

export const stateLookupID: CallSignature<readonly [Param<Address>, Param<TipsetKey>], Address> = callSignature({
  name: 'StateLookupID',
  perm: 'read',
  summary: 'ID address of an address.',
  params: [param('address', address), key],
  result: address,
})

export const stateAccountKey: CallSignature<readonly [Param<Address>, Param<TipsetKey>], Address> = callSignature({
  name: 'StateAccountKey',
  perm: 'read',
  summary: 'The key or delegated address behind an address.',
  params: [param('address', address), key],
  result: address,
})

const actorParam = param('actor', address)

const tag: Codec<bigint> = named(i64, 'crypto.DomainSeparationTag')

const entropy = param('entropy', bytes)

const epoch: Param<number> = param('epoch', chainEpoch)

export const stateActorCodeCIDs: CallSignature<readonly [Param<number>], ReadonlyMap<string, Cid>> = callSignature({
  name: 'StateActorCodeCIDs',
  perm: 'read',
  summary: 'Code CIDs of the built-in actors of a network version.',
  params: [param('networkVersion', networkVersion)],
  result: codeCids,
})

export const stateActorManifestCID: CallSignature<readonly [Param<number>], Cid> = callSignature({
  name: 'StateActorManifestCID',
  perm: 'read',
  summary: "CID of the actors' manifest of a network version.",
  params: [param('networkVersion', networkVersion)],
  result: cid,
})

export const stateLookupRobustAddress: CallSignature<readonly [Param<Address>, Param<TipsetKey>], Address> =
  callSignature({
    name: 'StateLookupRobustAddress',
    cost: 'scan',
    perm: 'read',
    summary: 'The address that the init actor maps to an ID; scans its whole map.',
    params: [param('idAddress', address), key],
    result: address,
  })

export const stateListActors: CallSignature<readonly [Param<TipsetKey>], Address[]> = callSignature({
  name: 'StateListActors',
  cost: 'scan',
  perm: 'read',
  summary: 'ID addresses of all actors, in the order of the state tree.',
  params: [key],
  result: list(address),
})

export const stateReadState: CallSignature<readonly [Param<Address>, Param<TipsetKey>], ApiActorState> = callSignature({
  name: 'StateReadState',
  cost: 'scan',
  perm: 'read',
  summary: "An actor's state as JSON.",
  params: [actorParam, key],
  result: apiActorState,
})

export const stateGetRandomnessFromTickets: CallSignature<
  readonly [Param<bigint>, Param<number>, Param<Uint8Array>, Param<TipsetKey>],
  Uint8Array
> = callSignature({
  name: 'StateGetRandomnessFromTickets',
  perm: 'read',
  versions: ['v1'],
  summary: 'Randomness drawn from the ticket at an epoch.',
  params: [param('personalization', tag), epoch, entropy, key],
  result: bytes,
})

export const stateGetRandomnessFromBeacon: CallSignature<
  readonly [Param<bigint>, Param<number>, Param<Uint8Array>, Param<TipsetKey>],
  Uint8Array
> = callSignature({
  name: 'StateGetRandomnessFromBeacon',
  perm: 'read',
  versions: ['v1'],
  summary: 'Randomness drawn from the beacon entry of an epoch.',
  params: [param('personalization', tag), epoch, entropy, key],
  result: bytes,
})

export const chainGetRandomnessFromTickets: CallSignature<
  readonly [Param<TipsetKey>, Param<bigint>, Param<number>, Param<Uint8Array>],
  Uint8Array
> = callSignature({
  name: 'ChainGetRandomnessFromTickets',
  perm: 'read',
  versions: ['v0'],
  permName: 'StateGetRandomnessFromTickets',
  summary: 'Randomness drawn from the ticket at an epoch.',
  params: [key, param('personalization', tag), epoch, entropy],
  result: bytes,
})

export const chainGetRandomnessFromBeacon: CallSignature<
  readonly [Param<TipsetKey>, Param<bigint>, Param<number>, Param<Uint8Array>],
  Uint8Array
> = callSignature({
  name: 'ChainGetRandomnessFromBeacon',
  perm: 'read',
  versions: ['v0'],
  permName: 'StateGetRandomnessFromBeacon',
  summary: 'Randomness drawn from the beacon entry of an epoch.',
  params: [key, param('personalization', tag), epoch, entropy],
  result: bytes,
})

export const stateGetRandomnessDigestFromTickets: CallSignature<
  readonly [Param<number>, Param<TipsetKey>],
  Uint8Array
> = callSignature({
  name: 'StateGetRandomnessDigestFromTickets',
  perm: 'read',
  versions: ['v1'],
  summary: 'Hash of the ticket at an epoch.',
  params: [epoch, key],
  result: bytes,
})

export const stateGetRandomnessDigestFromBeacon: CallSignature<readonly [Param<number>, Param<TipsetKey>], Uint8Array> =
  callSignature({
    name: 'StateGetRandomnessDigestFromBeacon',
    perm: 'read',
    versions: ['v1'],
    summary: 'Hash of the beacon entry of an epoch.',
    params: [epoch, key],
    result: bytes,
  })

export const stateGetBeaconEntry: CallSignature<readonly [Param<number>], BeaconEntry | null> = callSignature({
  name: 'StateGetBeaconEntry',
  perm: 'read',
  versions: ['v1'],
  summary: 'The beacon entry of an epoch.',
  params: [epoch],
  result: nullable(beaconEntry),
})

export const beaconGetEntry: CallSignature<readonly [Param<number>], BeaconEntry | null> = callSignature({
  name: 'BeaconGetEntry',
  perm: 'read',
  versions: ['v0'],
  permName: 'StateGetBeaconEntry',
  summary: 'The beacon entry of an epoch.',
  params: [epoch],
  result: nullable(beaconEntry),
})

export const stateListMessages: CallSignature<readonly [Param<MessageMatch>, Param<TipsetKey>, Param<number>], Cid[]> =
  callSignature({
    name: 'StateListMessages',
    cost: 'scan',
    perm: 'read',
    summary: 'CIDs of messages to or from an address, from a tipset back to a height.',
    params: [param('match', messageMatch), key, param('toHeight', chainEpoch)],
    result: list(cid),
  })
