/** Signatures of `State…` that read states. */
import { text } from '../../codec/description.ts'
import { type ActorState, actorV5 } from '../../types/actor.ts'
import { type Address, address } from '../../types/address.ts'
import { networkVersion } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'

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
