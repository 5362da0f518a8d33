/** Answers batches: one request after the other, all within the bounds of one answer. */
import { MAX_ANSWER_BYTES, MAX_REFUSALS_BYTES } from '../base/bounds.ts'
import { RETRY_AFTER_SEC } from './cost.ts'
import { RpcError } from './errors.ts'
import type { Held } from './held.ts'
import type { Outcome } from './outcome.ts'
import type { BadRequest, RpcRequest } from './request.ts'
import { failureText } from './response.ts'

/** What a batch is answered with. */
export interface BatchDeps {
  /** Carries one of its requests out. */
  dispatch(request: RpcRequest | BadRequest): Outcome | Promise<Outcome>
  /** Begins a part when it is its turn, so that others have theirs. */
  readonly turn: <T>(part: () => Promise<T>) => Promise<T>
  readonly signal: AbortSignal
  /** What is answered already is in memory until all is. */
  readonly held: Held | undefined
}

/** Of a request that is too much beside what others have under way. */
export const NO_ROOM: Outcome = {
  kind: 'busy',
  retryAfterSec: RETRY_AFTER_SEC,
  text: failureText(
    null,
    new RpcError('LIMIT_EXCEEDED', 'too much is held for the requests under way; try again later'),
  ),
}

/**
 * A notification leaves nothing behind. What exceeds the bound of an answer is not carried out: it is refused one by one, and what
 * exceeds the bound of refusals is not answered.
 * @returns the answer's text, and whether one of them was too many; undefined: there is no room for it in the making
 */
export async function answerBatch(
  requests: readonly (RpcRequest | BadRequest)[],
  { dispatch, turn, signal, held }: BatchDeps,
): Promise<{ readonly text: string; readonly isBusy: boolean } | undefined> {
  const parts: string[] = []
  let bytes = 0
  let isBusy = false
  for (const request of requests) {
    if (signal.aborted) break
    const isBeyond = bytes > MAX_ANSWER_BYTES
    const outcome = await turn(async () => (isBeyond ? tooMuch(request) : dispatch(request)))
    if (outcome.kind === 'silent') continue
    const { text } = outcome
    bytes += text.length
    if (isBeyond && bytes > MAX_ANSWER_BYTES + MAX_REFUSALS_BYTES) break
    if (held?.add(text.length) === false) return undefined
    parts.push(`${text}\n`)
    if (outcome.kind === 'busy') isBusy = true
  }
  return { text: parts.length === 0 ? '' : `[${parts.join(',')}]`, isBusy }
}

function tooMuch({ id }: RpcRequest | BadRequest): Outcome {
  const error = new RpcError('FAILED', `the answers of this batch have more than ${MAX_ANSWER_BYTES} bytes`)
  return { kind: 'refused', text: failureText(id, error) }
}
