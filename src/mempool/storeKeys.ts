/** Keys of what the pool keeps in the node's small store. */

/** Signed CBOR of a message of ours, by CID. */
export const LOCAL_MESSAGE_PREFIX = '/mpool/local/'
/** The same of one that came without a token. */
export const STRANGER_MESSAGE_PREFIX = '/mpool/stranger/'
/** JSON of the settings. */
export const CONFIG_KEY = '/mpool/config'
/** Next nonce by key address (`f` form), CBOR unsigned number. */
export const NEXT_NONCE_PREFIX = '/message-signer/ActorNextNonce/'
/** Signed CBOR of the answer to a send, by its MsgUuid. */
export const SEND_ID_PREFIX = '/message-signer/MsgUuidSet/'
