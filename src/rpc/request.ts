/**
 * Reading JSON-RPC requests by the rules of Go's decoder, which Lotus' clients rely on.
 * @see go-jsonrpc handler.go handleReader, normalizeID
 */

import { MAX_ID_TEXT } from '../base/bounds.ts'
import { unlessThrown } from '../base/errors.ts'
import type { Json } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { jsonField } from '../codec/goJson.ts'
import { jsonSize, parseJson } from '../codec/jsonText.ts'
import { RpcError } from './errors.ts'

/** A request's id; null: none, the request is a notification. */
export type RequestId = string | number | null

/** One request as it came. */
export interface RpcRequest {
  readonly id: RequestId
  readonly method: string
  /** undefined: missing, or read and not needed any more. */
  params: Json | undefined
}

/** A request that cannot be carried out, with the id to answer to. */
export interface BadRequest {
  readonly id: RequestId
  readonly error: RpcError
}

const EMPTY: RpcRequest = { id: null, method: '', params: undefined }

function parseError(): RpcError {
  return new RpcError('PARSE_ERROR', 'Parse error')
}

/** Go's name of a decoded value's type. */
function goKind(json: Json): string {
  if (typeof json === 'boolean') return 'bool'
  return Array.isArray(json) ? '[]interface {}' : 'map[string]interface {}'
}

/** @throws RpcError `PARSE_ERROR` for a boolean, an object, an array or a long text */
function requestId(json: Json | undefined): RequestId {
  if (json === undefined || json === null) return null
  if (typeof json === 'string') {
    if (json.length <= MAX_ID_TEXT) return json
    throw new RpcError('PARSE_ERROR', `failed to parse ID: ${json.length} characters, at most ${MAX_ID_TEXT}`)
  }
  if (typeof json === 'number' || typeof json === 'bigint') {
    // Go holds every number as a float64, and refuses what does not fit one.
    const id = Number(json)
    if (Number.isFinite(id)) return id
    throw parseError()
  }
  throw new RpcError('PARSE_ERROR', `failed to parse ID: invalid id type: ${goKind(json)}`)
}

function isTextMap(json: Json | undefined): boolean {
  if (json === undefined || json === null) return true
  if (typeof json !== 'object' || Array.isArray(json)) return false
  return Object.values(json).every((value) => value === null || typeof value === 'string')
}

function isTextOrMissing(json: Json | undefined): json is string | null | undefined {
  return json === undefined || json === null || typeof json === 'string'
}

/** True when Go could decode `json` into its request struct. */
function isDecodable(json: Json): boolean {
  if (json === null) return true
  if (typeof json !== 'object' || Array.isArray(json)) return false
  return (
    isTextOrMissing(jsonField(json, 'jsonrpc')) &&
    isTextOrMissing(jsonField(json, 'method')) &&
    isTextMap(jsonField(json, 'meta'))
  )
}

/** The request in a JSON value that {@link isDecodable}. */
function toRequest(json: Json): RpcRequest | BadRequest {
  if (json === null || typeof json !== 'object' || Array.isArray(json)) return EMPTY
  try {
    const id = requestId(jsonField(json, 'id'))
    return {
      id,
      method: (jsonField(json, 'method') as string | null | undefined) ?? '',
      params: jsonField(json, 'params'),
    }
  } catch (error) {
    if (error instanceof RpcError) return { id: null, error }
    throw error
  }
}

/** Where the first JSON value of a text ends; the text need not be valid. */
function firstValueEnd(text: string): number {
  let depth = 0
  let inText = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (inText) {
      if (c === 0x5c) i++
      else if (c === 0x22) {
        inText = false
        if (depth === 0) return i + 1
      }
    } else if (c === 0x22) inText = true
    else if (c === 0x7b || c === 0x5b) depth++
    else if (c === 0x7d || c === 0x5d) {
      depth--
      if (depth <= 0) return i + 1
    } else if (depth === 0 && (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09)) return i
  }
  return text.length
}

/** The first JSON value of a text; what follows is ignored, as Go's stream decoder does. */
function parseFirst(text: string): Json | undefined {
  // The common case has nothing behind the value, so the scan is the second try.
  const whole = unlessThrown(() => parseJson(text), CodecError)
  if (whole !== undefined) return whole
  const end = firstValueEnd(text)
  return end === text.length ? undefined : unlessThrown(() => parseJson(text.slice(0, end)), CodecError)
}

/** What an HTTP body holds. */
export type ParsedBody =
  | { readonly kind: 'single'; readonly request: RpcRequest | BadRequest }
  | { readonly kind: 'batch'; readonly requests: readonly (RpcRequest | BadRequest)[] }

/** Bodies below this are not counted: their values come to less than the text of an answer. */
const COUNTED_LENGTH = 16_384

/** What Go's `bytes.TrimSpace` takes from both ends of what is Latin-1. */
function isSpace(c: number): boolean {
  return (c >= 0x09 && c <= 0x0d) || c === 0x20 || c === 0x85 || c === 0xa0
}

/** A regular expression for the end would begin anew at each space of the text. */
function trimmed(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isSpace(text.charCodeAt(from))) from++
  while (from < to && isSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

/**
 * About how many values and keys a request holds; 0 where it is short.
 * @throws RpcError `PARSE_ERROR` above `most`
 */
export function requestValues(text: string, most: number): number {
  if (text.length < COUNTED_LENGTH) return 0
  const { values } = jsonSize(text)
  if (values <= most) return values
  throw new RpcError('PARSE_ERROR', `request of more than ${most} values, which is the maximum without a token`)
}

/**
 * Reads an HTTP body.
 * @throws RpcError `INVALID_REQUEST` for nothing or an empty batch, `PARSE_ERROR` for a batch that does not decode
 */
export function parseBody(body: string): ParsedBody {
  const text = trimmed(body)
  if (text.length === 0) throw new RpcError('INVALID_REQUEST', 'Invalid request')
  if (text[0] === '[' && text[text.length - 1] === ']') {
    const items = parseFirst(text)
    if (!Array.isArray(items) || !items.every(isDecodable)) throw parseError()
    if (items.length === 0) throw new RpcError('INVALID_REQUEST', 'Invalid request')
    return { kind: 'batch', requests: items.map(toRequest) }
  }
  const json = parseFirst(text)
  if (json === undefined || !isDecodable(json)) throw parseError()
  return { kind: 'single', request: toRequest(json) }
}

/** The request of a WebSocket frame; undefined: dropped without an answer (not JSON, a batch, a bad id). */
export function parseFrame(text: string): RpcRequest | undefined {
  const json = parseFirst(text)
  if (json === undefined || json === null || !isDecodable(json)) return undefined
  const request = toRequest(json)
  return 'error' in request ? undefined : request
}
