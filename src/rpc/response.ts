/** Texts of JSON-RPC answers, keys in alphabetical order as Lotus prints them. */
import { MAX_ERROR_TEXT } from '../base/bounds.ts'
import { utf8 } from '../base/bytes.ts'
import type { Json } from '../codec/description.ts'
import { stringifyJson } from '../codec/jsonText.ts'
import { RPC_ERROR_NUMBERS, type RpcError } from './errors.ts'
import type { RequestId } from './request.ts'

function idText(id: RequestId): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id)
}

/** The answer with a result, given as JSON text. */
export function successText(id: RequestId, resultText: string): string {
  return `{"id":${idText(id)},"jsonrpc":"2.0","result":${resultText}}`
}

/** The same as UTF-8, around the pieces of a result that was printed already. */
export function successPieces(id: RequestId, result: readonly Uint8Array[]): readonly Uint8Array[] {
  return [utf8(`{"id":${idText(id)},"jsonrpc":"2.0","result":`), ...result, utf8('}')]
}

function shownText(text: string): string {
  return text.length <= MAX_ERROR_TEXT
    ? text
    : `${text.slice(0, MAX_ERROR_TEXT)}… (${text.length} characters, the first ${MAX_ERROR_TEXT} are shown)`
}

function errorText(error: RpcError): string {
  const object: { [key: string]: Json } = { code: RPC_ERROR_NUMBERS[error.code], message: shownText(error.message) }
  if (error.data !== undefined) object.data = error.data
  return stringifyJson(object)
}

/** The answer with an error object. */
export function failureText(id: RequestId, error: RpcError): string {
  return `{"error":${errorText(error)},"id":${idText(id)},"jsonrpc":"2.0"}`
}

/** What ends an answer behind a part of its result: the error object beside it. */
export function failureEnd(error: RpcError): string {
  return `,"error":${errorText(error)}}`
}

/** A call from the server: a channel's value or end, a subscription's event. No id, no answer. */
export function notificationText(method: string, paramsText: string): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${paramsText}}`
}
