/** Methods of the built-in actors with the types of their parameters and return values. */
import type { MethodNum } from '../types/scalars.ts'
import type { ActorKind } from './actorKind.ts'
import { accountMethods } from './methods/account.ts'
import type { ActorMethod } from './methods/actorMethod.ts'
import { cronMethods } from './methods/cron.ts'
import { datacapMethods } from './methods/datacap.ts'
import { eamMethods } from './methods/eam.ts'
import { ethaccountMethods } from './methods/ethaccount.ts'
import { evmMethods } from './methods/evm.ts'
import { initMethods } from './methods/init.ts'
import { marketMethods } from './methods/market.ts'
import { minerMethods } from './methods/miner.ts'
import { multisigMethods } from './methods/multisig.ts'
import { paychMethods } from './methods/paych.ts'
import { placeholderMethods } from './methods/placeholder.ts'
import { powerMethods } from './methods/power.ts'
import { rewardMethods } from './methods/reward.ts'
import { systemMethods } from './methods/system.ts'
import { verifregMethods } from './methods/verifreg.ts'

export type { ActorMethod } from './methods/actorMethod.ts'

const METHODS: Readonly<Record<ActorKind, readonly ActorMethod[]>> = {
  system: systemMethods,
  init: initMethods,
  cron: cronMethods,
  account: accountMethods,
  storagepower: powerMethods,
  storageminer: minerMethods,
  storagemarket: marketMethods,
  paymentchannel: paychMethods,
  multisig: multisigMethods,
  reward: rewardMethods,
  verifiedregistry: verifregMethods,
  datacap: datacapMethods,
  placeholder: placeholderMethods,
  evm: evmMethods,
  eam: eamMethods,
  ethaccount: ethaccountMethods,
}

/** The methods of an actor at a version, in order of their numbers. */
export function actorMethods(kind: ActorKind, actorsVersion: number): readonly ActorMethod[] {
  return METHODS[kind].filter((row) => actorsVersion >= row.from && actorsVersion <= row.until)
}

/**
 * One method. Undefined when the actor does not have it; a plain send (method 0) is none.
 * @see lotus chain/stmgr/utils.go GetReturnType; chain/vm/invoker.go
 */
export function actorMethod(kind: ActorKind, actorsVersion: number, number: MethodNum): ActorMethod | undefined {
  return METHODS[kind].find((row) => row.number === number && actorsVersion >= row.from && actorsVersion <= row.until)
}
