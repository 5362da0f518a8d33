/** Mutations of JSON that stay JSON: bytes that are changed at random are seldom read any further than to the next bracket. */
import { utf8 } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { type Json, parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { mutate, type Random } from './mutate.ts'
import { ODD_VALUES } from './rpcCalls.ts'

/** Larger values are changed as bytes alone. */
const MAX_TEXT = 16_384

const lenient = new TextDecoder()

/** A place in a value: to read it, to write another there, to take it away. */
interface Place {
  readonly value: Json
  readonly set: (value: Json) => void
  readonly remove: () => void
}

function* placesOf(value: Json, set: Place['set'], remove: () => void): Generator<Place> {
  yield { value, set, remove }
  if (Array.isArray(value)) {
    for (const [i, one] of value.entries()) {
      yield* placesOf(
        one,
        (other) => {
          value[i] = other
        },
        () => void value.splice(i, 1),
      )
    }
  } else if (typeof value === 'object' && value !== null) {
    const fields = value as { [key: string]: Json }
    for (const [key, one] of Object.entries(fields)) {
      yield* placesOf(
        one,
        (other) => {
          fields[key] = other
        },
        () => void delete fields[key],
      )
    }
  }
}

function pick<T>(from: readonly T[], random: Random): T {
  return from[random(from.length)] as T
}

function changeOnce(root: { json: Json }, other: Json, random: Random): void {
  const places = [
    ...placesOf(
      root.json,
      (value) => {
        root.json = value
      },
      () => undefined,
    ),
  ]
  // The whole of it seldom, or a list of parameters would have another length each time.
  const inner = places.length > 1 && random(8) > 0 ? places.slice(1) : places
  const place = pick(inner, random)
  const { value } = place
  switch (random(12)) {
    case 0:
      return random(3) === 0 ? place.remove() : place.set(null)
    case 1:
    case 2: {
      const others = [
        ...placesOf(
          structuredClone(other),
          () => undefined,
          () => undefined,
        ),
      ]
      return place.set(pick(others, random).value)
    }
    case 3:
      return place.set([value])
    case 4:
    case 5:
    case 6:
      return place.set(structuredClone(pick(ODD_VALUES, random)))
    default:
      return tweak(place, random)
  }
}

/** Another value of the same kind. */
function tweak({ value, set }: Place, random: Random): void {
  if (typeof value === 'string') set(lenient.decode(mutate(utf8(value), utf8('0x'), random)))
  else if (typeof value === 'number') set(value + pick([-1, 1, 0.5, 2 ** 32, 2 ** 53], random))
  else if (typeof value === 'boolean') set(!value)
  else if (Array.isArray(value)) value.push(structuredClone(pick(value.length === 0 ? ODD_VALUES : value, random)))
  else set(null)
}

function parts(input: Uint8Array): { line: string; json: Json } | undefined {
  if (input.length > MAX_TEXT) return undefined
  const text = lenient.decode(input)
  const begin = text.startsWith('{') || text.startsWith('[') ? 0 : text.indexOf('\n') + 1
  try {
    return { line: text.slice(0, begin), json: parseJson(text.slice(begin)) }
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    return undefined
  }
}

function isRequest(json: Json): json is { params: Json } {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, 'params')
}

/** Of a text in JSON, behind a line of something else or not; of anything else, and now and then, as {@link mutate}. */
export function mutateJson(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const own = random(4) === 0 ? undefined : parts(bytes)
  if (own === undefined) return mutate(bytes, other, random)
  const theirs = parts(other)?.json ?? null
  // Of a request, what it is about; a method seldom.
  const request = random(8) > 0 && isRequest(own.json) ? own.json : undefined
  const root = request === undefined ? own : { json: request.params }
  for (let times = 1 + random(3); times > 0; times--)
    changeOnce(root, isRequest(theirs) ? theirs.params : theirs, random)
  if (request !== undefined) request.params = root.json
  return utf8(own.line + stringifyJson(own.json))
}
