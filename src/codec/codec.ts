/** What the description of a wire type consists of. */
import type { CborReader } from './cborReader.ts'
import type { CborWriter } from './cborWriter.ts'
import type { Json } from './jsonText.ts'

/** What a JSON form depends on besides the value. */
export interface JsonContext {
  /** `f` on mainnet, `t` elsewhere; output only, input takes both. */
  readonly addressPrefix: 'f' | 't'
}

/** A JSON schema, as plain JSON. */
export type JsonSchema = { readonly [key: string]: Json }

/** The description of one wire type. */
export interface Codec<T> {
  /** Name of the type, as Lotus calls it where it has one. */
  readonly name: string
  /** Go's type in error texts, e.g. `abi.ChainEpoch`. Absent: `name`. */
  readonly goType?: string
  write(writer: CborWriter, value: T): void
  /** @throws CodecError */
  read(reader: CborReader): T
  toJson(value: T, context: JsonContext): Json
  /**
   * @param json - `undefined`: the key is missing
   * @throws CodecError `INVALID_JSON`, with Go's reason as its text
   */
  fromJson(json: Json | undefined, context: JsonContext): T
  readonly schema: JsonSchema
  /** Of a list: its items, in JSON the same as in the list. */
  readonly items?: Codec<unknown>
}
