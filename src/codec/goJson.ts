/** How Go reads JSON into its types, to the letter of its errors. @see Go 1.26 encoding/json decode.go */
import type { Codec, JsonContext } from './codec.ts'
import { CodecError } from './errors.ts'
import type { Json } from './jsonText.ts'

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

/** The value of a JSON object's key by Go's rules: exact name first, else case-insensitive, the last one wins. */
export function jsonField(object: { [key: string]: Json }, name: string): Json | undefined {
  const exact = object[name]
  if (exact !== undefined) return exact
  const lower = name.toLowerCase()
  let found: Json | undefined
  for (const key in object) if (key.toLowerCase() === lower) found = object[key]
  return found
}
