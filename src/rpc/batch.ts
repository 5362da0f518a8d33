/**
 * Answers batches: one request after the other, all within the bounds of one answer. A long answer is sent as it is made, part by part:
 * the next requests are carried out when their caller has taken what came before.
 */
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
  /** Waits before one that had too many in it is answered to its end, once for all of them. */
  refusedLater(): Promise<unknown>
  readonly signal: AbortSignal
  /** What is answered already is in memory until the first part is. */
  readonly held: Held | undefined
}

/** See {@link answerBatch}. */
interface BatchAnswer {
  readonly text: string
  readonly retryAfterSec: number | undefined
  readonly rest?: AsyncIterable<string>
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

/** Characters of a part, or one answer where that has more. */
const PART = 1 << 16

/**
 * A notification leaves nothing behind. What exceeds the bound of an answer is not carried out: it is refused one by one, and what
 * exceeds the bound of refusals is not answered.
 * @returns the answer's text, what follows it as it is asked for, and when to come again where some of the text's requests were too many;
 *   undefined: there is no room for it in the making
 */
export async function answerBatch(
  requests: readonly (RpcRequest | BadRequest)[],
  deps: BatchDeps,
): Promise<BatchAnswer | undefined> {
  const answers = new Answers(requests, deps)
  const text = await answers.next(deps.held)
  if (text === undefined) return undefined
  const { retryAfterSec } = answers
  if (answers.isOver) return { text, retryAfterSec }
  async function* rest(): AsyncGenerator<string, void, void> {
    // Each part is written before the next one is made: the server counts it then.
    while (!answers.isOver) yield (await answers.next(undefined)) ?? ''
  }
  return { text, retryAfterSec, rest: rest() }
}

/** The answers of one batch. */
class Answers {
  readonly #requests: readonly (RpcRequest | BadRequest)[]
  readonly #deps: BatchDeps
  /** The next request. */
  #at = 0
  #bytes = 0
  #hasAny = false
  /** Of those that were too many so far; undefined: none was. */
  retryAfterSec: number | undefined
  isOver = false

  constructor(requests: readonly (RpcRequest | BadRequest)[], deps: BatchDeps) {
    this.#requests = requests
    this.#deps = deps
  }

  /** @returns the next part; undefined: it has no room in `held` */
  async next(held: Held | undefined): Promise<string | undefined> {
    const { dispatch, turn, signal, refusedLater } = this.#deps
    const parts: string[] = []
    let length = 0
    while (this.#at < this.#requests.length && !signal.aborted) {
      const request = this.#requests[this.#at++] as RpcRequest | BadRequest
      const isBeyond = this.#bytes > MAX_ANSWER_BYTES
      const outcome = await turn(async () => (isBeyond ? tooMuch(request) : dispatch(request)))
      if (outcome.kind === 'silent') continue
      const { text } = outcome
      this.#bytes += text.length
      if (isBeyond && this.#bytes > MAX_ANSWER_BYTES + MAX_REFUSALS_BYTES) break
      if (outcome.kind === 'busy') this.retryAfterSec = outcome.retryAfterSec
      parts.push(this.#hasAny ? ',' : '[', text, '\n')
      this.#hasAny = true
      length += text.length
      if (length >= PART) return parts.join('')
      if (held?.add(text.length) === false) return undefined
    }
    if (this.retryAfterSec !== undefined) await refusedLater()
    this.isOver = true
    if (this.#hasAny) parts.push(']')
    return parts.join('')
  }
}

function tooMuch({ id }: RpcRequest | BadRequest): Outcome {
  const error = new RpcError('FAILED', `the answers of this batch have more than ${MAX_ANSWER_BYTES} bytes`)
  return { kind: 'refused', text: failureText(id, error) }
}
