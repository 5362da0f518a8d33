/**
 * Numbers of the built-in actors' types.
 * @see builtin-actors v18 vm_api/src/builtin.rs Type
 */
import type { ActorKind } from '../state/actorKind.ts'

/** By the manifest's names. */
export const ActorType = {
  system: 1,
  init: 2,
  cron: 3,
  account: 4,
  storagepower: 5,
  storageminer: 6,
  storagemarket: 7,
  paymentchannel: 8,
  multisig: 9,
  reward: 10,
  verifiedregistry: 11,
  datacap: 12,
  placeholder: 13,
  evm: 14,
  eam: 15,
  ethaccount: 16,
} as const satisfies Record<ActorKind, number>

export type ActorType = (typeof ActorType)[ActorKind]
