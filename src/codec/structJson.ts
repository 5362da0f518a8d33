/** Structs in JSON: Lotus' names of their fields, in order. */
import type { Codec, JsonContext, JsonSchema } from './codec.ts'
import { inField, otherCases, wrongJson } from './goJson.ts'
import type { Json } from './jsonText.ts'
import { printOf, withPrint } from './jsonWriter.ts'

/** One field of a `tuple`: property, Lotus' JSON name, codec. */
export type Field<T> = { [K in keyof T & string]: readonly [key: K, jsonName: string, codec: Codec<T[K]>] }[keyof T &
  string]

/** A {@link Field} of any struct, its type forgotten: what codecs of structs loop over. */
export interface AnyField {
  readonly key: string
  readonly jsonName: string
  readonly codec: Codec<unknown>
}

/** How a struct's JSON is put together, for who prints it field by field. */
export interface Shape {
  readonly fields: readonly (AnyField & {
    /** Text in front of the field's value: a brace or a comma, and its name. */
    readonly before: string
  })[]
  /** Those of them that hold lists, perhaps in structs of their own. */
  readonly lists: readonly AnyField[]
  /** The struct that a value is printed as. Lists have the same names in both. */
  of(value: unknown): Readonly<Record<string, unknown>>
}

/** By the function whose JSON it describes: a description with another one, made of this by a spread, has another shape. */
const shapes = new WeakMap<Codec<never>['toJson'], Shape>()

/** Of a struct; undefined: its JSON is put together in another way. */
export function shapeOf({ toJson }: Codec<unknown>): Shape | undefined {
  return shapes.get(toJson as Codec<never>['toJson'])
}

/** Says that what `toJson` gives is the JSON of `form(value)`. @param codec - of the form, a struct @returns `toJson` */
export function withForm<T, F>(codec: Codec<F>, form: (value: T) => F): Codec<T>['toJson'] {
  const toJson = (value: T, context: JsonContext): Json => codec.toJson(form(value), context)
  const shape = shapeOf(codec as unknown as Codec<unknown>)
  if (shape !== undefined) {
    shapes.set(toJson, { ...shape, of: (value) => shape.of(form(value as T)) })
  }
  return toJson
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
  const otherCasesOf = otherCases(parts.map(({ jsonName }) => jsonName))
  const printed = parts.map(({ key, jsonName, codec }, i) => ({
    key,
    jsonName,
    before: `${i === 0 ? '{' : ','}${JSON.stringify(jsonName)}:`,
    codec,
    print: printOf(codec),
  }))
  const toJson = withPrint<Record<string, unknown>>(
    (value, context) => {
      const out: { [key: string]: Json } = {}
      for (const part of parts) out[part.jsonName] = part.codec.toJson(value[part.key], context)
      return out
    },
    (out, value, context) => {
      for (let i = 0; i < printed.length; i++) {
        const { before, print, key } = printed[i] as (typeof printed)[number]
        out.raw(before)
        print(out, value[key], context)
      }
      out.raw(printed.length === 0 ? '{}' : '}')
    },
  )
  const lists = parts.filter(({ codec }) => codec.items !== undefined || (shapeOf(codec)?.lists.length ?? 0) > 0)
  if (lists.length > 0) {
    shapes.set(toJson, { fields: printed, lists, of: (value) => value as Readonly<Record<string, unknown>> })
  }
  return {
    toJson,
    fromJson: (value, context) => {
      if (value !== undefined && value !== null && (typeof value !== 'object' || Array.isArray(value))) {
        throw wrongJson(value, name)
      }
      const given = value ?? {}
      const others = otherCasesOf(given)
      const out: Record<string, unknown> = {}
      for (const part of parts) {
        const field = others?.has(part.jsonName) === true ? others.get(part.jsonName) : given[part.jsonName]
        out[part.key] = inField(name, part.jsonName, () => part.codec.fromJson(field, context))
      }
      return out
    },
    schema: { type: 'object', title: name, properties },
  }
}

/**
 * A struct whose JSON shows one field more at its end, which follows from the value; on input it is ignored.
 * @param base - as {@link structJson} makes them
 */
export function withShown<T, V>(base: Codec<T>, jsonName: string, codec: Codec<V>, of: (value: T) => V): Codec<T> {
  const printBase = printOf(base)
  const print = printOf(codec)
  const before = `,${JSON.stringify(jsonName)}:`
  return {
    ...base,
    toJson: withPrint<T>(
      (value, context) => {
        const json = base.toJson(value, context) as { [key: string]: Json }
        json[jsonName] = codec.toJson(of(value), context)
        return json
      },
      (out, value, context) => {
        printBase(out, value, context)
        out.reopen()
        out.raw(before)
        print(out, of(value), context)
        out.raw('}')
      },
    ),
    schema: { ...base.schema, properties: { ...(base.schema.properties as JsonSchema), [jsonName]: codec.schema } },
  }
}
