/** Reading JSON-RPC responses. */
import type { Json } from '../../codec/jsonText.ts'
import { parseJson } from '../../codec/jsonText.ts'
import { RpcClientError } from './errors.ts'

/** A JSON object. */
export type JsonObject = { [key: string]: Json }

/** @throws RpcClientError `BAD_ANSWER` when `text` is no JSON object */
export function parseObject(text: string): JsonObject {
  let json: Json
  try {
    json = parseJson(text)
  } catch (cause) {
    throw new RpcClientError('BAD_ANSWER', 'the answer is no JSON-RPC', {}, { cause })
  }
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json
  throw new RpcClientError('BAD_ANSWER', 'the answer is no JSON-RPC')
}

/** The result of a response. @throws RpcClientError `REMOTE`, `BAD_ANSWER` */
export function resultOf({ result, error }: JsonObject): Json {
  if (error === undefined || error === null) return result ?? null
  if (typeof error !== 'object' || Array.isArray(error)) {
    throw new RpcClientError('BAD_ANSWER', 'the answer is no JSON-RPC')
  }
  const { code, message, data } = error
  throw new RpcClientError('REMOTE', typeof message === 'string' ? message : 'the node gives no reason', {
    code: Number(code ?? 0),
    ...(data === undefined ? {} : { data }),
  })
}
