/**
 * The native actors of a manifest: code CID to code, by the actor's name.
 */
import type { Cid } from '../codec/cid.ts'
import type { ActorCode, CodeLoader } from '../fvm/kernel/kernel.ts'
import type { ActorKind } from '../state/actorKind.ts'
import { createAccountActor } from './account.ts'
import { createCronActor } from './cron.ts'
import { createActorCode, type NativeActor } from './dispatch.ts'
import { createEthAccountActor } from './ethaccount.ts'
import { createInitActor } from './init.ts'
import { createMarketActor } from './market/market.ts'
import { createMinerActor } from './miner/miner.ts'
import { createMultisigActor } from './multisig.ts'
import { createPlaceholderCode } from './placeholder.ts'
import type { ActorsPolicy } from './policy.ts'
import { createPowerActor } from './power/power.ts'
import { createRewardActor } from './reward/reward.ts'
import { createForeignCode, createStateOnlyActor } from './stateOnly.ts'
import { createSystemActor } from './system.ts'
import type { WasmGas } from './wasmGas.ts'

/** The network's policy, and the gas that instructions of Wasm would have taken. */
export interface NativeActorsOptions {
  readonly policy: ActorsPolicy
  /** How instructions are counted; for calibration. */
  readonly createGas?: (pages: number, kind: ActorKind) => WasmGas
}

const FACTORIES: Readonly<Record<ActorKind, (policy: ActorsPolicy) => NativeActor | ActorCode>> = {
  system: createSystemActor,
  init: createInitActor,
  cron: createCronActor,
  account: createAccountActor,
  storagepower: createPowerActor,
  storageminer: createMinerActor,
  storagemarket: createMarketActor,
  paymentchannel: () => createStateOnlyActor('paymentchannel'),
  multisig: createMultisigActor,
  reward: createRewardActor,
  verifiedregistry: () => createStateOnlyActor('verifiedregistry'),
  datacap: () => createStateOnlyActor('datacap'),
  placeholder: createPlaceholderCode,
  evm: () => createForeignCode('evm'),
  eam: () => createForeignCode('eam'),
  ethaccount: createEthAccountActor,
}

function isActorCode(made: NativeActor | ActorCode): made is ActorCode {
  return 'invoke' in made
}

function createCode(kind: ActorKind, { policy, createGas }: NativeActorsOptions): ActorCode {
  const made = FACTORIES[kind](policy)
  if (isActorCode(made)) return made
  return createActorCode(createGas === undefined ? made : { ...made, createGas: (pages) => createGas(pages, kind) })
}

/**
 * Code of the built-in actors in a manifest of actors v18 (and v19, which has the same code).
 * @param manifest - name to code CID
 * @returns a loader; undefined for code that is in no such manifest
 */
export function createNativeActors(
  manifest: ReadonlyMap<string, Cid> | Readonly<Record<string, Cid>>,
  options: NativeActorsOptions,
): CodeLoader {
  const entries = manifest instanceof Map ? manifest.entries() : Object.entries(manifest as Record<string, Cid>)
  const codes = new Map<string, ActorCode>()
  for (const [name, code] of entries) {
    if (name in FACTORIES) codes.set((code as Cid).key, createCode(name as ActorKind, options))
  }
  return (code) => codes.get(code.key)
}
