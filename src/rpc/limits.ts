/** Bounds of the JSON-RPC server. Tuning, not protocol. */

/** Largest request body, bytes (go-jsonrpc's default). */
export const MAX_REQUEST_BYTES: number = 100 * 1024 * 1024
/** A channel whose client has this much unread is ended, bytes. */
export const MAX_UNREAD_BYTES: number = 16 * 1024 * 1024
/** How often a WebSocket server pings its clients, milliseconds (go-jsonrpc's default). */
export const PING_INTERVAL_MS = 5000
/** Tokens whose check is remembered: about as many as an operator hands out. */
export const MAX_CACHED_TOKENS = 256
/** Longest token that is looked at, characters (HTTP servers allow headers of 16 KiB). */
export const MAX_TOKEN_LENGTH = 8192
