/** Bounds of the certificate exchange; those of go-f3 say so. */
import type { AskLimits } from '../framing/ask.ts'
import type { Budget } from '../peerBudget.ts'
import type { GateLimits } from '../serviceGate.ts'
import type { UnsentLimits } from '../unsentAnswers.ts'

/** Most certificates of one answer; a server sends one more than asked for (go-f3). */
export const MAX_CERTIFICATES = 256
/** Longest header without a power table, longest table, longest certificate, bytes (go-f3). */
export const MAX_HEADER_BYTES = 100
export const MAX_ITEM_BYTES: number = 1024 * 1024
/** Longest request: three numbers, bytes. */
export const MAX_REQUEST_BYTES = 32
/** Streams whose request is awaited, and for how long, milliseconds. Above it the oldest of the peer that has most is reset. */
export const READ_GATE: GateLimits = { running: 64, perPeer: 4, waiting: 0 }
export const READ_REQUEST_MS = 10_000
/** Time for a whole answer, milliseconds (go-f3's server). */
export const SERVER_MS = 60_000
/** Longest time that computing a power table keeps everything else waiting, milliseconds. */
export const BUSY_MS = 8
/** Longest time that a reader may leave a write waiting, milliseconds. */
export const STALL_MS = 10_000
/** Requests for which the beginning of an answer is made at once, a power table mostly; sending keeps no place, but a peer's share. */
export const SERVER_GATE: GateLimits = { running: 16, perPeer: 4, waiting: 256 }
/** Of each answer what is being sent is in memory: its beginning, or one certificate. */
export const UNSENT: UnsentLimits = { all: 32 * 1024 * 1024, longest: MAX_ITEM_BYTES, shortest: MAX_ITEM_BYTES }
/** Requests of a peer: a few at once, then one a second. */
export const SERVER_BUDGET: Budget = { capacity: 64, perSecond: 1 }
/** go-f3's client has 10 s for a question of any size. */
export const CLIENT_LIMITS: AskLimits = {
  openMs: 10_000,
  writeMs: 5000,
  answerMs: 30_000,
  pace: { waitMs: 10_000, bytesPerSecond: 20 * 1024 },
  maxBytes: 64 * 1024 * 1024,
}
