/** Signatures: what is final. */
import type { FinalityStatus } from '../../consensus/finality.ts'
import { type ActorState, actorV5 } from '../../types/actor.ts'
import { type Address, address } from '../../types/address.ts'
import { type Tipset, tipset } from '../../types/tipset.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { finalityStatus } from '../types/f3.ts'
import { type TipsetSelector, tipsetSelector } from '../types/tipsetSelector.ts'

const selector = param('tipSetSelector', tipsetSelector)

export const chainGetTipSetV2: CallSignature<readonly [Param<TipsetSelector>], Tipset> = callSignature({
  name: 'ChainGetTipSet',
  perm: 'read',
  versions: ['v2'],
  summary: 'A tipset by key, by height on the chain that an anchor ends, or by tag: latest, finalized, safe.',
  params: [selector],
  result: tipset,
  cacheResult: true,
})

export const chainGetTipSetFinalityStatus: CallSignature<readonly [], FinalityStatus> = callSignature({
  name: 'ChainGetTipSetFinalityStatus',
  perm: 'read',
  versions: ['v2'],
  summary: 'Which tipsets are final, and by what: the calculator of FRC-0089, F3, or 900 epochs.',
  params: [],
  result: finalityStatus,
})

export const stateGetActorV2: CallSignature<readonly [Param<Address>, Param<TipsetSelector>], ActorState> =
  callSignature({
    name: 'StateGetActor',
    perm: 'read',
    versions: ['v2'],
    summary: 'An actor in the state of a tipset.',
    params: [param('address', address), selector],
    result: actorV5,
  })

export const stateGetID: CallSignature<readonly [Param<Address>, Param<TipsetSelector>], Address> = callSignature({
  name: 'StateGetID',
  perm: 'read',
  versions: ['v2'],
  summary: 'The ID address behind an address.',
  params: [param('address', address), selector],
  result: address,
})
