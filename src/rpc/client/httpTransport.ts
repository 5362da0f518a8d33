/** Calls over HTTP, one request each; the runtime's own client sends them. */
import { type BodyLike, bodyUpTo } from '../../base/boundedBody.ts'
import { stringifyJson } from '../../codec/jsonText.ts'
import { RpcClientError } from './errors.ts'
import { parseObject, resultOf } from './response.ts'
import type { RpcTransport } from './transport.ts'

/** An HTTP answer. */
export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

/**
 * Sends a body by POST to the node's path, with its content type and token.
 * @param maxBytes - of the answer, for a node that is not trusted; above it RpcClientError `BAD_ANSWER`, and the rest is not read
 */
export type Post = (body: string, signal: AbortSignal | undefined, maxBytes?: number) => Promise<HttpAnswer>

const UNAUTHORIZED = 401

/** Calls by `post`. It has no channels. */
export function httpTransport(post: Post): RpcTransport {
  let nextId = 1
  return {
    request: async (method, params, signal) => {
      const body = stringifyJson({ jsonrpc: '2.0', id: nextId++, method, params })
      let answer: HttpAnswer
      try {
        answer = await post(body, signal)
      } catch (cause) {
        if (signal?.aborted === true) throw cause
        throw new RpcClientError('UNREACHABLE', 'could not connect to the node', {}, { cause })
      }
      if (answer.status === UNAUTHORIZED) {
        throw new RpcClientError('UNAUTHORIZED', 'the node does not accept the token')
      }
      return resultOf(parseObject(answer.text))
    },
    subscribe: (): Promise<never> =>
      Promise.reject(new RpcClientError('NOT_SUPPORTED', 'not supported: channels over HTTP')),
    close: () => undefined,
  }
}

/** The part of a response that is needed. */
export interface ResponseLike {
  readonly status: number
  /** null: there is none. Absent in a runtime without streams: then all of the text is read before it is measured. */
  readonly body?: BodyLike | null
  text(): Promise<string>
}

/** The part of `fetch` that is needed. */
export type FetchLike = (
  url: string,
  init: { method: 'POST'; headers: Record<string, string>; body: string; signal?: AbortSignal },
) => Promise<ResponseLike>

/** @param url - with its path: `http://host:port/rpc/v1` */
export function fetchPost(fetch: FetchLike, url: string, token?: string): Post {
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  }
  return async (body, signal, maxBytes = Number.POSITIVE_INFINITY) => {
    const response = await fetch(url, { method: 'POST', headers, body, ...(signal === undefined ? {} : { signal }) })
    return { status: response.status, text: await boundedText(response, maxBytes) }
  }
}

/** @throws RpcClientError `BAD_ANSWER` as soon as the text is longer */
async function boundedText(response: ResponseLike, maxBytes: number): Promise<string> {
  const tooLong = (): RpcClientError => new RpcClientError('BAD_ANSWER', `the answer is longer than ${maxBytes} bytes`)
  const { body } = response
  if (maxBytes === Number.POSITIVE_INFINITY || body === undefined || body === null) {
    const text = await response.text()
    if (text.length > maxBytes) throw tooLong()
    return text
  }
  const bytes = await bodyUpTo(body, maxBytes)
  if (bytes === undefined) throw tooLong()
  return new TextDecoder().decode(bytes)
}
