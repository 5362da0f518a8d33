/**
 * DAG-CBOR without a description: for blocks of which nobody says what they hold.
 *
 * JSON as go-ipld-prime prints it: links `{"/": cid}`, byte strings `{"/": {"bytes": base64 without padding}}`.
 */
import { decode, encode } from '@ipld/dag-cbor'
import { encode as encodeTokens, Token, Type } from 'cborg'
import { CID } from 'multiformats/cid'
import { toBase64 } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import { type Cid, cidFromBytes } from './cid.ts'
import { CodecError } from './errors.ts'
import { type Json, jsonInteger } from './jsonText.ts'

/** A value of the data model: what `@ipld/dag-cbor` makes of CBOR. */
export type AnyValue = unknown

/** @throws CodecError `WRONG_TYPE` */
export function readAny(data: Uint8Array): AnyValue {
  try {
    return decode(data)
  } catch (cause) {
    throw new CodecError('WRONG_TYPE', `Cannot read CBOR: ${errorMessage(cause)}`, {}, { cause })
  }
}

/** Canonical DAG-CBOR. */
export function writeAny(value: AnyValue): Uint8Array {
  return encode(value)
}

/** CBOR of JSON as Go's `encoding/json` reads it into an interface: every number is a float. */
export function writeGoJson(value: Json): Uint8Array {
  return encodeTokens(value, {
    float64: true,
    typeEncoders: {
      number: (float: number) => [new Token(Type.float, float)],
      bigint: (whole: bigint) => [new Token(Type.float, Number(whole))],
    },
  })
}

/** The link that a value is; undefined: it is none. */
export function asLink(value: AnyValue): Cid | undefined {
  const link = CID.asCID(value as object)
  return link === null ? undefined : cidFromBytes(link.bytes)
}

/** DAG-JSON of a value. */
export function dagJson(value: AnyValue): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number') {
    return value
  }
  if (typeof value === 'bigint') return jsonInteger(value)
  if (value instanceof Uint8Array) return { '/': { bytes: toBase64(value).replace(/=+$/, '') } }
  const link = asLink(value)
  if (link !== undefined) return { '/': link.toString() }
  if (Array.isArray(value)) return value.map(dagJson)
  const out: { [key: string]: Json } = {}
  for (const key of Object.keys(value as object).sort()) out[key] = dagJson((value as Record<string, unknown>)[key])
  return out
}
