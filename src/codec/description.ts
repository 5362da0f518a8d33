/**
 * One description per wire type: CBOR, Lotus JSON and JSON schema come from it.
 *
 * Go's JSON rules on input (rpc-wire, section 3): keys match case-insensitively, unknown keys are ignored, a missing
 * key or null is the zero value. CBOR is strict. `bytes` that were read are views of the input.
 */
import { EMPTY_BYTES, fromBase64, PRESENT_EMPTY, toBase64 } from '../base/bytes.ts'
import { CborReader } from './cborReader.ts'
import { written } from './cborWriter.ts'
import { type Cid, parseCid } from './cid.ts'
import type { Codec, JsonContext, JsonSchema } from './codec.ts'
import { CodecError } from './errors.ts'
import { jsonKind, wrongJson, wrongNumber } from './goJson.ts'
import { type Json, jsonInteger } from './jsonText.ts'
import { printOf, withPrint } from './jsonWriter.ts'
import { type AnyField, type Field, structJson, tupleParts } from './structJson.ts'

export type { Codec, JsonContext, JsonSchema } from './codec.ts'

export type { Json } from './jsonText.ts'

/** CBOR bytes of a value, in a buffer of their own. */
export function encode<T>(codec: Codec<T>, value: T): Uint8Array {
  return written((writer) => codec.write(writer, value))
}

/**
 * The value of CBOR bytes, all of them.
 * @throws CodecError
 */
export function decode<T>(codec: Codec<T>, bytes: Uint8Array): T {
  const reader = new CborReader(bytes)
  const value = codec.read(reader)
  reader.end()
  return value
}

const MAX_UINT64 = (1n << 64n) - 1n
const MAX_INT64 = (1n << 63n) - 1n
const MIN_INT64 = -(1n << 63n)

const bigIntegerJson = withPrint<bigint>(jsonInteger, (out, value) => out.raw(value.toString()))
const integerJson = withPrint<number>(
  (value) => value,
  (out, value) => out.raw(String(value)),
)

function bigIntegerCodec(name: string, min: bigint, max: bigint, signed: boolean): Codec<bigint> {
  return {
    name,
    write: (writer, value) => (signed ? writer.int(value) : writer.uint(value)),
    read: (reader) => (signed ? reader.readInt() : reader.readUint()),
    toJson: bigIntegerJson,
    fromJson: (json) => {
      if (json === undefined || json === null) return 0n
      const value =
        typeof json === 'bigint'
          ? json
          : typeof json === 'number' && Number.isSafeInteger(json)
            ? BigInt(json)
            : undefined
      if (value === undefined || value < min || value > max) throw wrongNumber(json, name)
      return value
    },
    schema: { type: 'integer' },
  }
}

/** Unsigned 64-bit number. */
export const u64: Codec<bigint> = bigIntegerCodec('uint64', 0n, MAX_UINT64, false)

/** Signed 64-bit number. */
export const i64: Codec<bigint> = bigIntegerCodec('int64', MIN_INT64, MAX_INT64, true)

function integerCodec(name: string, signed: boolean): Codec<number> {
  const [min, max] = signed ? [MIN_INT64, MAX_INT64] : [0n, MAX_UINT64]
  return {
    name,
    write: (writer, value) => (signed ? writer.int(value) : writer.uint(value)),
    read: (reader) => (signed ? reader.readIntNumber() : reader.readUintNumber()),
    toJson: integerJson,
    fromJson: (json) => {
      if (json === undefined || json === null) return 0
      // Go reads all 64 bits. Nothing of ours is that large, so the nearest number compares as the exact one does.
      if (typeof json === 'bigint' && json >= min && json <= max) return Number(json)
      if (typeof json !== 'number' || !Number.isSafeInteger(json) || (!signed && json < 0))
        throw wrongNumber(json, name)
      return json
    },
    schema: { type: 'integer' },
  }
}

/** Unsigned number below 2^53 (sizes, codes, rounds); JSON may hold any of 64 bits. */
export const uint: Codec<number> = integerCodec('uint64', false)

/** Signed number within ±2^53 (epochs); JSON may hold any of 64 bits. */
export const int: Codec<number> = integerCodec('int64', true)

const MAX_BYTE = 255

/** Number of one byte. */
export const byte: Codec<number> = {
  ...uint,
  name: 'uint8',
  fromJson: (json, context) => {
    const value = uint.fromJson(json, context)
    if (value > MAX_BYTE) throw wrongNumber(json as Json, 'uint8')
    return value
  },
}

/** One byte in CBOR; false where JSON has nothing or null. */
export const bool: Codec<boolean> = {
  name: 'bool',
  write: (writer, value) => writer.bool(value),
  read: (reader) => reader.readBool(),
  toJson: (value) => value,
  fromJson: (json) => {
    if (json === undefined || json === null) return false
    if (typeof json !== 'boolean') throw wrongJson(json, 'bool')
    return json
  },
  schema: { type: 'boolean' },
}

/** UTF-8; empty where JSON has nothing or null. */
export const text: Codec<string> = {
  name: 'string',
  write: (writer, value) => writer.text(value),
  read: (reader) => reader.readText(),
  toJson: (value) => value,
  fromJson: (json) => {
    if (json === undefined || json === null) return ''
    if (typeof json !== 'string') throw wrongJson(json, 'string')
    return json
  },
  schema: { type: 'string' },
}

/** Go takes a JSON array of numbers where it has a slice of bytes. */
function bytesOfNumbers(json: readonly Json[]): Uint8Array {
  const out = new Uint8Array(json.length)
  for (const [i, octet] of json.entries()) {
    if (octet === null) continue
    if (typeof octet === 'number' && Number.isInteger(octet) && octet >= 0 && octet <= MAX_BYTE) out[i] = octet
    else throw wrongNumber(octet, 'uint8')
  }
  return out
}

function bytesCodec(emptyAs: null | '', max: number = Number.MAX_SAFE_INTEGER): Codec<Uint8Array> {
  return {
    name: '[]uint8',
    write: (writer, value) => writer.bytes(value),
    read: (reader) => {
      const value = reader.readBytes()
      if (value.length <= max) return value
      throw new CodecError('TOO_LARGE', `Cannot read byte string: ${value.length} bytes, at most ${max}`)
    },
    toJson: withPrint<Uint8Array>(
      (value) => (value.length > 0 ? toBase64(value) : value === PRESENT_EMPTY ? '' : emptyAs),
      (out, value) => {
        if (value.length > 0) out.base64(value)
        else out.raw(value === PRESENT_EMPTY || emptyAs === '' ? '""' : 'null')
      },
    ),
    fromJson: (json) => {
      if (json === undefined || json === null) return EMPTY_BYTES
      if (json === '' || (Array.isArray(json) && json.length === 0)) return PRESENT_EMPTY
      if (Array.isArray(json)) return bytesOfNumbers(json)
      if (typeof json !== 'string') throw wrongJson(json, '[]uint8')
      try {
        return fromBase64(json)
      } catch (cause) {
        throw new CodecError('INVALID_JSON', (cause as Error).message, {}, { cause })
      }
    },
    schema:
      emptyAs === null
        ? { type: ['string', 'null'], contentEncoding: 'base64' }
        : { type: 'string', contentEncoding: 'base64' },
  }
}

/** Byte string; JSON base64, null when empty; on input an array of numbers, too. */
export const bytes: Codec<Uint8Array> = bytesCodec(null)

/** {@link bytes}, of which CBOR may hold at most `max`. */
export function bytesUpTo(max: number): Codec<Uint8Array> {
  return bytesCodec(null, max)
}

/** Byte string; JSON base64, "" when empty. */
export const bytesOrEmpty: Codec<Uint8Array> = bytesCodec('')

/**
 * A link; JSON `{"/": text}`. Go reads null as its undefined CID, which nothing has: that is told as not found, in the words of
 * go-ipld-format's ErrNotFound.
 */
export const cid: Codec<Cid> = {
  name: 'cid.Cid',
  write: (writer, value) => writer.cid(value),
  read: (reader) => reader.readCid(),
  toJson: withPrint<Cid>(
    (value) => ({ '/': value.toString() }),
    (out, value) => out.cid(value),
  ),
  fromJson: (json) => {
    if (json === undefined || json === null) throw new CodecError('UNDEFINED_CID', 'ipld: could not find node')
    const target = typeof json === 'object' && !Array.isArray(json) ? json['/'] : undefined
    if (typeof target !== 'string') {
      if (typeof json === 'object' && !Array.isArray(json))
        throw new CodecError('INVALID_JSON', 'invalid cid: cid too short')
      throw new CodecError(
        'INVALID_JSON',
        `invalid cid: json: cannot unmarshal ${jsonKind(json)} into Go value of type struct { CidTarget string "json:\\"/\\"" }`,
      )
    }
    try {
      return parseCid(target)
    } catch (cause) {
      throw new CodecError('INVALID_JSON', `invalid cid: invalid cid: ${(cause as Error).message}`, {}, { cause })
    }
  },
  schema: { type: 'object', properties: { '/': { type: 'string' } }, required: ['/'] },
}

function noCbor(name: string): never {
  throw new CodecError('NOT_SUPPORTED', `not supported: ${name} has no CBOR form`)
}

/** Any JSON value; no CBOR form. */
export const json: Codec<Json> = {
  name: 'json',
  write: () => noCbor('json'),
  read: () => noCbor('json'),
  toJson: (value) => value,
  fromJson: (value) => value ?? null,
  schema: {},
}

/** A type that occurs in JSON only. */
export function jsonOnly<T>(
  name: string,
  toJson: (value: T, context: JsonContext) => Json,
  fromJson: (json: Json | undefined, context: JsonContext) => T,
  schema: JsonSchema = {},
): Codec<T> {
  return { name, write: () => noCbor(name), read: () => noCbor(name), toJson, fromJson, schema }
}

/** The value, or null (CBOR null, JSON null). */
export function nullable<T>(inner: Codec<T>): Codec<T | null> {
  const print = printOf(inner)
  return {
    name: inner.name,
    goType: `*${inner.goType ?? inner.name}`,
    write: (writer, value) => (value === null ? writer.null() : inner.write(writer, value)),
    read: (reader) => (reader.peekNull() ? reader.readNull() : inner.read(reader)),
    toJson: withPrint<T | null>(
      (value, context) => (value === null ? null : inner.toJson(value, context)),
      (out, value, context) => (value === null ? out.raw('null') : print(out, value, context)),
    ),
    fromJson: (value, context) => (value === undefined || value === null ? null : inner.fromJson(value, context)),
    schema: { oneOf: [inner.schema, { type: 'null' }] },
    ...(inner.items === undefined ? {} : { items: inner.items }),
  }
}

function listCodec<T>(inner: Codec<T>, emptyAsNull: boolean, max: number): Codec<T[]> {
  const check = (length: number): number => {
    if (length > max)
      throw new CodecError('TOO_LARGE', `Cannot read list of ${inner.name}: ${length} items, at most ${max}`)
    return length
  }
  const print = printOf(inner)
  return {
    name: `[]${inner.name}`,
    goType: `[]${inner.goType ?? inner.name}`,
    write: (writer, value) => {
      writer.array(value.length)
      for (const item of value) inner.write(writer, item)
    },
    read: (reader) => {
      const length = check(reader.readArray())
      const out: T[] = []
      for (let i = 0; i < length; i++) out.push(inner.read(reader))
      return out
    },
    toJson: withPrint<T[]>(
      (value, context) => (emptyAsNull && value.length === 0 ? null : value.map((item) => inner.toJson(item, context))),
      (out, value, context) => {
        out.raw(emptyAsNull && value.length === 0 ? 'null' : '[')
        for (let i = 0; i < value.length; i++) {
          if (i > 0) out.raw(',')
          print(out, value[i] as T, context)
        }
        if (value.length > 0 || !emptyAsNull) out.raw(']')
      },
    ),
    fromJson: (value, context) => {
      if (value === undefined || value === null) return []
      if (!Array.isArray(value)) throw wrongJson(value, `[]${inner.goType ?? inner.name}`)
      return value.map((item) => inner.fromJson(item, context))
    },
    schema: emptyAsNull ? { type: ['array', 'null'], items: inner.schema } : { type: 'array', items: inner.schema },
    items: inner,
  }
}

/** List; JSON null when empty, as Go prints a nil slice. `max` bounds what is decoded from CBOR. */
export function list<T>(inner: Codec<T>, max: number = Number.MAX_SAFE_INTEGER): Codec<T[]> {
  return listCodec(inner, true, max)
}

/** List; JSON `[]` when empty. */
export function listOrEmpty<T>(inner: Codec<T>, max: number = Number.MAX_SAFE_INTEGER): Codec<T[]> {
  return listCodec(inner, false, max)
}

/** Struct as CBOR array of its fields in this order; JSON object with Lotus' names. */
export function tuple<T>(name: string, fields: readonly Field<T>[]): Codec<T> {
  const parts = tupleParts(fields)
  const codec: Codec<Record<string, unknown>> = {
    name,
    write: (writer, value) => {
      writer.array(parts.length)
      for (let i = 0; i < parts.length; i++) {
        const part = parts[i] as AnyField
        part.codec.write(writer, value[part.key])
      }
    },
    read: (reader) => {
      const start = reader.offset
      const length = reader.readArray()
      if (length !== parts.length) {
        throw new CodecError('WRONG_LENGTH', 'cbor input had wrong number of fields', {
          type: name,
          expected: parts.length,
          actual: length,
          offset: start,
        })
      }
      const out: Record<string, unknown> = {}
      for (let i = 0; i < parts.length; i++) {
        const part = parts[i] as AnyField
        out[part.key] = part.codec.read(reader)
      }
      return out
    },
    ...structJson(name, parts),
  }
  return codec as unknown as Codec<T>
}

/** Struct that occurs in JSON only. */
export function struct<T>(name: string, fields: readonly Field<T>[]): Codec<T> {
  const codec: Codec<Record<string, unknown>> = {
    name,
    write: () => noCbor(name),
    read: () => noCbor(name),
    ...structJson(name, tupleParts(fields)),
  }
  return codec as unknown as Codec<T>
}

/** Struct of one field whose CBOR is that field alone, without an array around it (Rust's `serde(transparent)`). */
export function transparent<T, V>(inner: Codec<V>, wrap: (value: V) => T, unwrap: (value: T) => V): Codec<T> {
  const print = printOf(inner)
  return {
    ...(inner.goType === undefined ? {} : { goType: inner.goType }),
    name: inner.name,
    write: (writer, value) => inner.write(writer, unwrap(value)),
    read: (reader) => wrap(inner.read(reader)),
    toJson: withPrint<T>(
      (value, context) => inner.toJson(unwrap(value), context),
      (out, value, context) => print(out, unwrap(value), context),
    ),
    fromJson: (value, context) => wrap(inner.fromJson(value, context)),
    schema: inner.schema,
  }
}
