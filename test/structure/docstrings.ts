/** Exports and what says what they are, found by the lines of a source: no compiler is asked. */

const EXPORT =
  /^export (?:declare )?(?:default )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/
const TABLE_ROW = /^(?:export )?const [A-Z][A-Z0-9_]*\b/
const DOCSTRING_END = /^(?:\/\*)?\*.*\*\/$|^\*\/$/
const COMMENT = /^\/\/ /
/** The line of a method's row that says what the method does; the API reference is made of it. */
const SUMMARY = /^ +summary:(?! *(?:''|""|``))/
/** What goes on with a statement: an indented line, or one that closes it. */
const CONTINUED = /^(?:\s+\S|[\])}>])/

/** The exports of a source, in order, each with whether a reader learns of it more than its name. */
export interface ExportedName {
  readonly name: string
  readonly isDocumented: boolean
}

/**
 * An export is documented by the comment above it; by another of its name (an overload, the type of a constant's values); a codec
 * (`tipset`, `tipsetAt`) by its type (`Tipset`); a row of a table of constants by the comment above the first row; a method's
 * row by its `summary`.
 */
export function exportsOf(source: string): ExportedName[] {
  const lines = source.split('\n')
  const above = (at: number): string => (lines[at - 1] ?? '').trim()
  const documented = new Set<string>()
  return lines.flatMap((line, at) => {
    const name = EXPORT.exec(line)?.[1]
    if (name === undefined) return []
    let first = at
    if (TABLE_ROW.test(line)) while (TABLE_ROW.test(lines[first - 1] ?? '')) first--
    const type = (name[0] as string).toUpperCase() + name.slice(1)
    const isDocumented =
      DOCSTRING_END.test(above(at)) ||
      DOCSTRING_END.test(above(first)) ||
      (first < at && COMMENT.test(above(first))) ||
      isRow(lines, at) ||
      [name, type, type.replace(/At$/, '')].some((other) => documented.has(other))
    if (isDocumented) documented.add(name)
    return [{ name, isDocumented }]
  })
}

function isRow(lines: readonly string[], at: number): boolean {
  if (!(lines[at] as string).startsWith('export const ')) return false
  for (let next = at + 1; CONTINUED.test(lines[next] ?? ''); next++) {
    if (SUMMARY.test(lines[next] as string)) return true
  }
  return false
}
