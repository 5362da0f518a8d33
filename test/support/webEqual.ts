/** When two values are equal to a test without Node. */

/** A value that decides by itself what equals it (`expect.any`, `expect.objectContaining`). */
export class Asymmetric {
  readonly matches: (value: unknown) => boolean
  constructor(matches: (value: unknown) => boolean) {
    this.matches = matches
  }
}

/** How strictly values are compared: `loose` as toEqual (absent equals undefined, classes ignored). */
type Mode = 'loose' | 'strict' | 'subset'

/** Whether the two are equal as the mode has it. */
export function equal(actual: unknown, expected: unknown, mode: Mode): boolean {
  if (expected instanceof Asymmetric) return expected.matches(actual)
  if (actual instanceof Asymmetric) return actual.matches(expected)
  if (Object.is(actual, expected)) return true
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) return false
  if (actual instanceof Error && expected instanceof Error) {
    return actual.message === expected.message && actual.name === expected.name
  }
  if (ArrayBuffer.isView(actual) || ArrayBuffer.isView(expected)) return equalBytes(actual, expected)
  if (Array.isArray(actual) !== Array.isArray(expected)) return false
  if (mode === 'strict' && Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) return false
  if (actual instanceof Map && expected instanceof Map) return equalMaps(actual, expected, mode)
  if (actual instanceof Set && expected instanceof Set) {
    return actual.size === expected.size && [...actual].every((a) => [...expected].some((b) => equal(a, b, mode)))
  }
  if (actual instanceof Date && expected instanceof Date) return actual.getTime() === expected.getTime()
  return equalFields(actual as Fields, expected as Fields, mode)
}

/** Any object. */
export type Fields = Record<string, unknown>

function equalBytes(actual: object, expected: object): boolean {
  if (!ArrayBuffer.isView(actual) || !ArrayBuffer.isView(expected)) return false
  const [a, b] = [actual, expected] as unknown as [ArrayLike<unknown>, ArrayLike<unknown>]
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false
  return true
}

function equalMaps(actual: Map<unknown, unknown>, expected: Map<unknown, unknown>, mode: Mode): boolean {
  if (actual.size !== expected.size) return false
  for (const [key, value] of expected) if (!actual.has(key) || !equal(actual.get(key), value, mode)) return false
  return true
}

function keysOf(value: Fields, mode: Mode): string[] {
  const keys = Object.keys(value)
  return mode === 'strict' ? keys : keys.filter((key) => value[key] !== undefined)
}

function equalFields(actual: Fields, expected: Fields, mode: Mode): boolean {
  if (Array.isArray(expected) && actual.length !== expected.length) return false
  const keys = mode === 'subset' ? Object.keys(expected) : keysOf(expected, mode)
  if (mode !== 'subset' && keysOf(actual, mode).length !== keys.length) return false
  return keys.every((key) => (key in actual || mode === 'loose') && equal(actual[key], expected[key], mode))
}
