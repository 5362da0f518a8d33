/**
 * Numbers of the built-in actors' types.
 * @see builtin-actors v18 vm_api/src/builtin.rs Type
 */
import type { ActorKind } from '../state/actorKind.ts'

/** By the manifest's names. */
export const ActorType: {
  readonly system: 1
  readonly init: 2
  readonly cron: 3
  readonly account: 4
  readonly storagepower: 5
  readonly storageminer: 6
  readonly storagemarket: 7
  readonly paymentchannel: 8
  readonly multisig: 9
  readonly reward: 10
  readonly verifiedregistry: 11
  readonly datacap: 12
  readonly placeholder: 13
  readonly evm: 14
  readonly eam: 15
  readonly ethaccount: 16
} = {
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
}

/** Number of a built-in actor's type, 1 to 16. */
export type ActorType = (typeof ActorType)[ActorKind]
