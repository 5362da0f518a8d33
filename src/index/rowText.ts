/** Values of rows as text. */
import { toHex } from '../base/bytes.ts'
import { type Json, stringifyJson } from '../codec/jsonText.ts'

/** Bytes as PostgreSQL reads them. */
export function byteText(bytes: Uint8Array): string {
  return `\\x${toHex(bytes)}`
}

/** A decoded value; null where a text in it has a character that no database of texts keeps (U+0000): its bytes are there, too. */
export function keptJson(value: Json): Json {
  return stringifyJson(value).includes('\\u0000') ? null : value
}
