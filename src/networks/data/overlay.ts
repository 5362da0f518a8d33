/** Networks as differences. */
import type { Json } from '../../codec/jsonText.ts'

/** A copy of `base` with the changes laid over it: objects are merged field by field, everything else is replaced. */
export function overlay(base: Json, changes: Json): Json {
  if (!isObject(base) || !isObject(changes)) return changes
  const out: { [key: string]: Json } = { ...base }
  for (const [key, change] of Object.entries(changes)) {
    const present = out[key]
    out[key] = present === undefined ? change : overlay(present, change)
  }
  return out
}

function isObject(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
