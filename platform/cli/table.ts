/**
 * Columns aligned left with two spaces between them; a column without any value is left out.
 * @see lotus lib/tablewriter/tablewriter.go
 */
export interface TableRow {
  readonly cells: Readonly<Record<string, string>>
  /** Printed on a line of its own under the row. */
  readonly error?: string
}

/** The table's text, one line per row, with heading. */
export function tableText(columns: readonly string[], rows: readonly TableRow[]): string {
  const used = columns.filter((column) => rows.some((row) => (row.cells[column] ?? '') !== ''))
  if (rows.length === 0) return ''
  const widths = used.map((column) => Math.max(column.length, ...rows.map((row) => (row.cells[column] ?? '').length)))
  const format = (cells: readonly string[]): string =>
    `${cells
      .map((cell, i) => cell.padEnd((widths[i] as number) + 2))
      .join('')
      .trimEnd()}\n`
  let out = format(used)
  for (const row of rows) {
    out += format(used.map((column) => row.cells[column] ?? ''))
    if (row.error !== undefined) out += `  Error: ${row.error}\n`
  }
  return out
}
