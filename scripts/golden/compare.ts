/** Compares two JSON values field by field. */
import type { Json } from '../../src/codec/jsonText.ts'

/** Keys whose values are times, not part of an answer's meaning. */
const TIMES: ReadonlySet<string> = new Set(['tt', 'Duration'])
const SHOWN = 300
const NONE: ReadonlySet<string> = new Set()

function show(value: Json | undefined): string {
  const text =
    JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item)) ?? 'absent'
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text
}

/**
 * The first difference as one line, undefined when there is none. Order of keys does not matter, order of lists does.
 * @param meant - paths that may differ
 */
export function firstDifference(
  expected: Json | undefined,
  actual: Json | undefined,
  path = '',
  meant: ReadonlySet<string> = NONE,
): string | undefined {
  if (expected === actual || meant.has(path)) return undefined
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let i = 0; i < Math.max(expected.length, actual.length); i++) {
      const difference = firstDifference(expected[i], actual[i], `${path}[${i}]`, meant)
      if (difference !== undefined) return difference
    }
    return undefined
  }
  if (isObject(expected) && isObject(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      if (TIMES.has(key)) continue
      const difference = firstDifference(expected[key], actual[key], `${path}.${key}`, meant)
      if (difference !== undefined) return difference
    }
    return undefined
  }
  return `${path === '' ? 'result' : path}: expected ${show(expected)}, got ${show(actual)}`
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
