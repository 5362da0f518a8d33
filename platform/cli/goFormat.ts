/** Text forms of Go's standard library that Lotus' command line prints. */

/** A duration as Go prints it: `1m3.204518s`, `250ms`, `0s`. @param ms - milliseconds */
export function goDuration(ms: number): string {
  if (ms === 0) return '0s'
  const sign = ms < 0 ? '-' : ''
  let rest = Math.abs(ms)
  if (rest < 1) return `${sign}${trim(rest * 1000)}µs`
  if (rest < 1000) return `${sign}${trim(rest)}ms`
  const hours = Math.floor(rest / 3_600_000)
  rest -= hours * 3_600_000
  const minutes = Math.floor(rest / 60_000)
  rest -= minutes * 60_000
  const seconds = `${trim(rest / 1000)}s`
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}`
  return minutes > 0 ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`
}

function trim(value: number): string {
  return value.toFixed(9).replace(/\.?0+$/, '')
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `time.Stamp`: `Jan _2 15:04:05`, local time. @param unixSec - seconds */
export function goStamp(unixSec: number): string {
  const date = new Date(unixSec * 1000)
  const two = (n: number): string => n.toString().padStart(2, '0')
  const day = date.getDate().toString().padStart(2, ' ')
  return `${MONTHS[date.getMonth()]} ${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** `HHh:MMm:SSs`. @param seconds - whole */
export function clockDuration(seconds: number): string {
  const two = (n: number): string => n.toString().padStart(2, '0')
  return `${two(Math.floor(seconds / 3600))}h:${two(Math.floor(seconds / 60) % 60)}m:${two(seconds % 60)}s`
}

/** `[a b c]`, as Go prints a list. */
export function goList(items: readonly string[]): string {
  return `[${items.join(' ')}]`
}

const SI_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB']

/** `82 MB`, `1.4 kB`: powers of 1000, one decimal below ten. @see dustin/go-humanize bytes.go Bytes */
export function siBytes(bytes: number): string {
  const whole = Math.floor(bytes)
  if (whole < 10) return `${whole} B`
  const power = Math.min(SI_UNITS.length - 1, Math.floor(Math.log10(whole) / 3))
  const value = Math.floor((whole / 1000 ** power) * 10 + 0.5) / 10
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${SI_UNITS[power]}`
}

const BINARY_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']

/** `1.5 MiB`: powers of 1024, four digits. @see lotus chain/types/bigint.go SizeStr */
export function binarySize(bytes: number): string {
  let value = bytes
  let unit = 0
  for (; value >= 1024 && unit + 1 < BINARY_UNITS.length; unit++) value /= 1024
  return `${Number(value.toPrecision(4))} ${BINARY_UNITS[unit]}`
}

/** Columns as wide as their widest cell and two spaces, at least four; the last one as it is. @see text/tabwriter */
export function tabbed(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (let i = 0; i + 1 < row.length; i++) {
      widths[i] = Math.max(widths[i] ?? 4, (row[i] as string).length + 2)
    }
  }
  return rows
    .map((row) => `${row.map((cell, i) => cell.padEnd(i + 1 < row.length ? (widths[i] as number) : 0)).join('')}\n`)
    .join('')
}
