/** Which entries of a node's small store nobody else has: messages of this node, `MsgUuid`s, nonces, payment channels, revoked tokens. */
import { latin1 } from '../base/bytes.ts'
import { STRANGER_MESSAGE_PREFIX } from '../mempool/storeKeys.ts'

/** Made anew when the chain is followed again. */
const OF_THE_CHAIN = ['chain/', 'sync/', 'gc/']
/** Without what others have told a start takes longer, and no more. */
const TOLD_BY_OTHERS = ['f3/', 'p2p/', STRANGER_MESSAGE_PREFIX]

const isOneOf = (prefixes: readonly string[], key: Uint8Array): boolean => {
  const name = latin1(key)
  return prefixes.some((prefix) => name.startsWith(prefix))
}

/** Whether an entry says nothing without the blocks of its chain. */
export const isChainEntry = (key: Uint8Array): boolean => isOneOf(OF_THE_CHAIN, key)

/** Whether an entry's loss is one for ever. */
export const isOwnEntry = (key: Uint8Array): boolean => !isChainEntry(key) && !isOneOf(TOLD_BY_OTHERS, key)
