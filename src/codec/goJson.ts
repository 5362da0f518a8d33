/** How Go reads JSON into its types, to the letter of its errors. @see Go 1.26 encoding/json decode.go */
import type { Codec, JsonContext } from './codec.ts'
import { CodecError } from './errors.ts'
import { type Json, stringifyJson } from './jsonText.ts'

/** Go's name of a JSON value's kind, for error texts. */
export function jsonKind(json: Json): string {
  if (json === null) return 'null'
  if (Array.isArray(json)) return 'array'
  if (typeof json === 'bigint') return 'number'
  if (typeof json === 'boolean') return 'bool'
  return typeof json
}

/** The error of a JSON value of the wrong kind, worded as encoding/json does. */
export function wrongJson(json: Json, goType: string): CodecError {
  return new CodecError('INVALID_JSON', `json: cannot unmarshal ${jsonKind(json)} into Go value of type ${goType}`)
}

/** Like {@link wrongJson}; of a number that does not fit, Go names the number. */
export function wrongNumber(json: Json, goType: string): CodecError {
  if (typeof json !== 'number' && typeof json !== 'bigint') return wrongJson(json, goType)
  return new CodecError('INVALID_JSON', `json: cannot unmarshal number ${json} into Go value of type ${goType}`)
}

const UNMARSHAL_ERROR = /^json: cannot unmarshal (.+) into Go (?:value|struct field ([^.]+)\.(\S+)) of type (.+)$/

/**
 * Reads a field of a struct. What is wrong with it is told as encoding/json does: the innermost struct, then the path.
 * @param struct - Go's type, with or without its package
 * @throws what `read` throws
 * @see Go 1.26 encoding/json decode.go addErrorContext
 */
export function inField<T>(struct: string, field: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const parts = error instanceof CodecError ? UNMARSHAL_ERROR.exec(error.message) : null
    if (parts === null) throw error
    const [, what, inner = struct.slice(struct.lastIndexOf('.') + 1), below, goType] = parts
    const path = below === undefined ? field : `${field}.${below}`
    throw new CodecError(
      'INVALID_JSON',
      `json: cannot unmarshal ${what} into Go struct field ${inner}.${path} of type ${goType}`,
    )
  }
}

/** The same description under another Go type name in error texts. */
export function named<T>(codec: Codec<T>, goType: string): Codec<T> {
  return { ...codec, goType, fromJson: (json, context) => renamed(codec, goType, json, context) }
}

function renamed<T>(codec: Codec<T>, goType: string, json: Json | undefined, context: JsonContext): T {
  try {
    return codec.fromJson(json, context)
  } catch (error) {
    const own = error instanceof CodecError && json !== undefined ? UNMARSHAL_ERROR.exec(error.message) : null
    // Of a field inside, the struct's other name says nothing.
    if (own === null || own[2] !== undefined) throw error
    throw new CodecError('INVALID_JSON', `json: cannot unmarshal ${own[1]} into Go value of type ${goType}`)
  }
}

/** Lists and objects inside each other that {@link shownJson} shows, items of each, and characters in all. */
const SHOWN_DEPTH = 4
const SHOWN_ITEMS = 32
const SHOWN_LENGTH = 256

function cut(json: Json, depth: number): Json {
  if (json === null || typeof json !== 'object') return json
  if (depth === 0) return '…'
  if (Array.isArray(json)) return json.slice(0, SHOWN_ITEMS).map((item) => cut(item, depth - 1))
  const shown: [key: string, value: Json][] = []
  for (const key in json) {
    if (shown.length === SHOWN_ITEMS) break
    shown.push([key, cut(json[key] as Json, depth - 1)])
  }
  return Object.fromEntries(shown)
}

/** A JSON value as it stands in an error's text: its beginning, however deep and long the caller made it. */
export function shownJson(json: Json): string {
  return stringifyJson(cut(json, SHOWN_DEPTH)).slice(0, SHOWN_LENGTH)
}

const ASCII_END = 0x80
/** What a letter of ASCII and its capital differ in. */
const CASE_BIT = 0x20

/** Keys of an object that are looked through for each field; of one with more they are folded once. */
const FEW_KEYS = 32
/** Values by folded key. */
const manyKeys = new WeakMap<object, ReadonlyMap<string, Json>>()

/** The same for all keys that are one name to Go. Of what is not ASCII only the long s and Kelvin's sign fold to a letter of a name. */
function foldName(key: string): string {
  return key.toLowerCase().replaceAll('\u017f', 's')
}

/** @param name - of a field, ASCII */
function isNamed(key: string, name: string): boolean {
  if (key.length !== name.length) return false
  // Most differ in their first letter, in more than its case, and nothing has to be folded.
  const first = key.charCodeAt(0)
  if (first < ASCII_END && ((first ^ name.charCodeAt(0)) & ~CASE_BIT) !== 0) return false
  return foldName(key) === foldName(name)
}

function foldKeys(object: { [key: string]: Json }): ReadonlyMap<string, Json> {
  const values = new Map<string, Json>()
  for (const key in object) values.set(foldName(key), object[key] as Json)
  manyKeys.set(object, values)
  return values
}

/**
 * The value of a JSON object's key by Go's rules: without regard to case, the last one wins, in whatever case it is. (An exact name goes
 * first only where two fields of a struct differ in nothing but their case; none of Lotus' do.)
 *
 * A key that stands there twice in the same case counts by its first place: JavaScript's parser tells no more.
 * @see Go 1.26 encoding/json decode.go decodeState.object, fold.go foldName
 */
export function jsonField(object: { [key: string]: Json }, name: string): Json | undefined {
  const many = manyKeys.get(object)
  if (many !== undefined) return many.get(foldName(name))
  let found: Json | undefined
  let count = 0
  for (const key in object) {
    if (count++ === FEW_KEYS) return foldKeys(object).get(foldName(name))
    if (key === name || isNamed(key, name)) found = object[key]
  }
  return found
}

/**
 * The same for all fields of a struct, in one look at the keys.
 * @returns what reads an object: the values of fields that another case than their own gives; undefined where none does
 */
export function otherCases(
  names: readonly string[],
): (object: { [key: string]: Json }) => ReadonlyMap<string, Json> | undefined {
  const own = new Set(names)
  const byFolded = new Map(names.map((name) => [foldName(name), name]))
  return (object) => {
    let found: Map<string, Json> | undefined
    for (const key in object) {
      if (own.has(key)) {
        found?.delete(key)
        continue
      }
      const name = byFolded.get(foldName(key))
      if (name === undefined) continue
      found ??= new Map()
      found.set(name, object[key] as Json)
    }
    return found
  }
}
