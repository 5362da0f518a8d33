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
