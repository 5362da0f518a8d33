/** The kinds of built-in actors, by the names that manifests use. */

/** All of them, in the manifest's order. */
export const ACTOR_KINDS = [
  'system',
  'init',
  'cron',
  'account',
  'storagepower',
  'storageminer',
  'storagemarket',
  'paymentchannel',
  'multisig',
  'reward',
  'verifiedregistry',
  'datacap',
  'placeholder',
  'evm',
  'eam',
  'ethaccount',
] as const

/** Name of a built-in actor in manifests. */
export type ActorKind = (typeof ACTOR_KINDS)[number]

const KNOWN: ReadonlySet<string> = new Set(ACTOR_KINDS)

/** Whether a manifest's name is one that the node knows. */
export function isActorKind(name: string): name is ActorKind {
  return KNOWN.has(name)
}
