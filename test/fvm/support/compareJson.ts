/** Compares JSON values field by field. */
import type { Json } from '../../../src/codec/jsonText.ts'

/** Times: they differ from run to run. */
const TIMES = new Set(['tt', 'Duration'])

function show(value: Json | undefined): string {
  const text =
    JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one)) ?? 'undefined'
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

/** The first few differences, as "path: ours, theirs"; empty when equal. Keys in `ignored` are not compared. */
export function jsonDifferences(
  ours: Json | undefined,
  theirs: Json | undefined,
  ignored: ReadonlySet<string> = TIMES,
  limit = 5,
): string[] {
  const out: string[] = []
  const visit = (a: Json | undefined, b: Json | undefined, path: string): void => {
    if (out.length >= limit || a === b) return
    if (Array.isArray(a) && Array.isArray(b)) {
      const shared = Math.min(a.length, b.length)
      for (let i = 0; i < shared; i++) visit(a[i], b[i], `${path}[${i}]`)
      if (a.length !== b.length)
        out.push(
          `${path}.length: ${a.length}, expected ${b.length}; next ${show(a[shared])}, expected ${show(b[shared])}`,
        )
      return
    }
    if (isRecord(a) && isRecord(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        if (!ignored.has(key)) visit(a[key], b[key], `${path}.${key}`)
      }
      return
    }
    if ((typeof a === 'number' || typeof a === 'bigint') && (typeof b === 'number' || typeof b === 'bigint')) {
      if (BigInt(a) === BigInt(b)) return
    }
    out.push(`${path}: ${show(a)}, expected ${show(b)}`)
  }
  visit(ours, theirs, '')
  return out
}

function isRecord(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export { TIMES }
