/** Values and errors as text, for the failures of tests without Node. */

/** Short text of any value for a failure's message. */
export function show(value: unknown): string {
  let text: string
  try {
    text =
      JSON.stringify(value, (_key, item: unknown) => {
        if (typeof item === 'bigint') return `${item}n`
        if (item instanceof Uint8Array)
          return `bytes ${[...item.subarray(0, 64)].map((b) => b.toString(16).padStart(2, '0')).join('')}`
        if (item instanceof Map || item instanceof Set) return [...(item as Iterable<unknown>)]
        return item instanceof Error ? `${item.name}: ${item.message}` : item
      }) ?? String(value)
  } catch {
    text = String(value)
  }
  return text.length > 600 ? `${text.slice(0, 600)}…` : text
}

/** An error with its stack. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return (error.stack ?? '').includes(error.message) ? (error.stack ?? '') : `${error.message}\n${error.stack ?? ''}`
}
