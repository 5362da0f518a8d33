/** What comes of a request, before it is known how it is sent. */
import { concatBytes, fromUtf8 } from '../base/bytes.ts'

/**
 * `refused`: the request itself was wrong (unknown method, parameters, a bug in the handler);
 * `answered`: the handler ran, whether it failed or not; `busy`: too many of its kind, it did not run; `silent`: a notification, or a channel that answers itself.
 */
export type Outcome =
  | { readonly kind: 'refused'; readonly text: string }
  | Answered
  | { readonly kind: 'busy'; readonly text: string; readonly retryAfterSec: number }
  | { readonly kind: 'silent' }

interface Answered {
  readonly kind: 'answered'
  readonly text: string
  readonly failed?: boolean
  /** What the handler threw, where it failed: its code is not in the text. */
  readonly error?: unknown
  /** The text as UTF-8, one piece behind the other, where it was that before it was text. */
  readonly pieces?: readonly Uint8Array[]
}

/** An answer whose end is not known yet: its beginning, and what follows as it is asked for. */
export interface StreamedOutcome {
  readonly kind: 'streamed'
  readonly text: string
  readonly rest: AsyncIterable<string>
  /** What closes the result behind any part. */
  readonly closing: string
  /** Aborted when nobody waits for it any more, or it is late; the reason is an `RpcError`. */
  readonly signal: AbortSignal
  /** It waits behind other answers of its connection, which does not count in its deadline. @returns says that its turn has come */
  readonly waits: () => () => void
}

/** An answer of megabytes: who can write its pieces as they are never asks for its text. */
export class PrintedAnswer implements Answered {
  readonly kind = 'answered'
  readonly pieces: readonly Uint8Array[]

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces
  }

  get text(): string {
    return fromUtf8(concatBytes(...this.pieces))
  }
}
