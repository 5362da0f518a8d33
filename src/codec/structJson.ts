/** Structs in JSON: Lotus' names of their fields, in order. */
import type { Codec } from './codec.ts'
import { inField, jsonField, wrongJson } from './goJson.ts'
import type { Json } from './jsonText.ts'

/** One field of a `tuple`: property, Lotus' JSON name, codec. */
export type Field<T> = { [K in keyof T & string]: readonly [key: K, jsonName: string, codec: Codec<T[K]>] }[keyof T &
  string]

/** A {@link Field} of any struct, its type forgotten: what codecs of structs loop over. */
export interface AnyField {
  readonly key: string
  readonly jsonName: string
  readonly codec: Codec<unknown>
}

/** Fields as rows, in the order of the list: on the wire, too. */
export function tupleParts<T>(fields: readonly Field<T>[]): AnyField[] {
  return fields.map(([key, jsonName, codec]) => ({ key, jsonName, codec: codec as unknown as Codec<unknown> }))
}

/**
 * The JSON half of a struct's codec. On input keys match without regard to case; missing ones and null are zero values.
 * @param name - of the struct, for errors
 * @param parts - in the order in which JSON shows them
 */
export function structJson(
  name: string,
  parts: readonly AnyField[],
): Pick<Codec<Record<string, unknown>>, 'toJson' | 'fromJson' | 'schema'> {
  const properties: { [key: string]: Json } = {}
  for (const part of parts) properties[part.jsonName] = part.codec.schema as Json
  return {
    toJson: (value, context) => {
      const out: { [key: string]: Json } = {}
      for (const part of parts) out[part.jsonName] = part.codec.toJson(value[part.key], context)
      return out
    },
    fromJson: (value, context) => {
      if (value !== undefined && value !== null && (typeof value !== 'object' || Array.isArray(value))) {
        throw wrongJson(value, name)
      }
      const out: Record<string, unknown> = {}
      for (const part of parts) {
        const field = value === undefined || value === null ? undefined : jsonField(value, part.jsonName)
        out[part.key] = inField(name, part.jsonName, () => part.codec.fromJson(field, context))
      }
      return out
    },
    schema: { type: 'object', title: name, properties },
  }
}
