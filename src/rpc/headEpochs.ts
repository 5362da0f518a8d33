/** Answers over HTTP name the epoch of the head that they are of; a request may name the one that it wants at least. */
import { RpcError } from './errors.ts'
import type { HttpRequest, HttpResponse } from './httpMessage.ts'
import { failureText } from './response.ts'

/** The epoch of the head that answers are of. */
export interface HeadEpochs {
  epoch(): number
  /** Waits for a time that is bounded. @returns whether the head is there */
  reached(epoch: number, signal: AbortSignal): Promise<boolean>
}

/** Of an answer: it is of the head of this epoch, or of a later one. */
export const EPOCH_HEADER = 'X-Petrel-Epoch'
/** Of a request: the answer has to be of a head of this epoch, or of a later one. */
export const MIN_EPOCH_HEADER = 'X-Petrel-Min-Epoch'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const NEVER: AbortSignal = new AbortController().signal

/** Adds headers to an answer. */
export function withHeaders(
  answer: HttpResponse | Promise<HttpResponse>,
  more: Readonly<Record<string, string>> | undefined,
): HttpResponse | Promise<HttpResponse> {
  if (more === undefined) return answer
  const added = (response: HttpResponse): HttpResponse => ({ ...response, headers: { ...response.headers, ...more } })
  return answer instanceof Promise ? answer.then(added) : added(answer)
}

/** Answers when the head is where the request wants it, and says where it was: 400 for what is no epoch, 503 where it does not come. */
export function ofEpoch(
  request: HttpRequest,
  epochs: HeadEpochs,
  run: () => HttpResponse | Promise<HttpResponse>,
): HttpResponse | Promise<HttpResponse> {
  const named = (): Record<string, string> => ({ [EPOCH_HEADER]: String(epochs.epoch()) })
  const answer = (): HttpResponse | Promise<HttpResponse> => {
    // As it is before the answer is made: that may be of a later head, never of an earlier one.
    const headers = named()
    return withHeaders(run(), headers)
  }
  const refusal = (status: number, headers: Readonly<Record<string, string>>, error: RpcError): HttpResponse => ({
    ...{ status, headers: { ...JSON_TYPE, ...named(), ...headers } },
    body: `${failureText(null, error)}\n`,
  })
  const text = request.header(MIN_EPOCH_HEADER)
  if (text === undefined) return answer()
  if (!/^\d{1,15}$/.test(text)) {
    const reason = `${MIN_EPOCH_HEADER}: expected an epoch, got ${JSON.stringify(text)}`
    return refusal(400, {}, new RpcError('INVALID_REQUEST', reason))
  }
  const wanted = Number(text)
  if (epochs.epoch() >= wanted) return answer()
  return epochs.reached(wanted, request.signal ?? NEVER).then((isReached) => {
    if (isReached) return answer()
    const reason = `the head is at epoch ${epochs.epoch()}, and the request wants ${wanted} (${MIN_EPOCH_HEADER})`
    return refusal(503, { 'Retry-After': '1' }, new RpcError('TIMED_OUT', reason))
  })
}
