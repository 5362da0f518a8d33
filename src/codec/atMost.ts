import type { Codec } from './description.ts'
import { CodecError } from './errors.ts'

/** A list of which no more is read from JSON: the rest is not looked at. */
export function atMost<T>(items: Codec<T[]>, max: number): Codec<T[]> {
  return {
    ...items,
    fromJson: (value, context) => {
      if (Array.isArray(value) && value.length > max)
        throw new CodecError('TOO_LARGE', `Cannot read ${items.name}: ${value.length} items, at most ${max}`)
      return items.fromJson(value, context)
    },
  }
}
