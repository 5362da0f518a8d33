/** What the network's other nodes expect of gossip: not ours to choose. */

/** CIDs in one of the two lists of a block message. @see lotus chain/types/cbor_gen.go BlockMsg.UnmarshalCBOR */
export const MESSAGE_LIST_LIMIT = 8192
/** Largest envelope of a block of ours, bytes. @see lotus chain/consensus/common.go validateLocalBlock */
export const MAX_OWN_BLOCK_BYTES: number = (1 << 20) - (1 << 15)
/**
 * While the head is younger than this, a miner without power is blamed on the sender; before that our own state may be
 * what is behind. @see lotus chain/consensus/filcns/filecoin.go isChainNearSynced
 */
export const NEAR_SYNCED_MS: number = 6 * 3600 * 1000
/** Messages are asked for from here on, epochs behind the clock. @see lotus node/modules/services.go pubsubMsgsSyncEpochs */
export const MESSAGES_FROM_EPOCHS = 10
/** Weight of a peer that brought a block first. @see lotus chain/sub/incoming.go HandleIncomingBlocks */
export const BLOCK_PEER_WEIGHT = 5
