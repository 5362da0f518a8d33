/** Names of topics. @see lotus build/params_shared_funcs.go BlocksTopic, MessagesTopic */

/** @param networkName - the one in the genesis' init actor: `testnetnet` for mainnet */
export function blocksTopic(networkName: string): string {
  return `/fil/blocks/${networkName}`
}

/** @param networkName - the one in the genesis' init actor: `testnetnet` for mainnet */
export function messagesTopic(networkName: string): string {
  return `/fil/msgs/${networkName}`
}

/**
 * What a remote node may subscribe to here; anything else is forgotten. The topics of F3 are not among them: this node
 * follows finality by certificates and carries neither votes nor chains.
 */
export function allowedTopics(networkName: string): readonly string[] {
  return [blocksTopic(networkName), messagesTopic(networkName)]
}
