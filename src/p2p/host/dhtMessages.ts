/** Numbers of the DHT's messages. @see libp2p/specs kad-dht RPC messages */

/** Kinds. */
export const FIND_NODE = 4
export const PING = 5
/** Fields of a message, and of a peer in it. */
export const TYPE = 1
export const KEY = 2
export const CLOSER = 8
export const PEER_ID = 1
export const PEER_ADDRESS = 2
