/** Axes of the charts: ticks at round times, values at round steps of one unit. */

const MS = 1000
/** Steps of a time axis, seconds. */
const STEPS = [60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800]

/** A place on the axis with its text. */
export interface Tick {
  readonly at: number
  readonly text: string
}

/**
 * Round local times.
 * @param first - Unix seconds
 * @param most - ticks at most
 */
export function timeTicks(first: number, last: number, most: number): Tick[] {
  const span = Math.max(1, last - first)
  const step = STEPS.find((candidate) => span / candidate <= most) ?? span
  const zone = new Date(last * MS).getTimezoneOffset() * 60
  const out: Tick[] = []
  for (let at = Math.ceil((first - zone) / step) * step + zone; at <= last; at += step) {
    const date = new Date(at * MS)
    const isDay = step >= 86_400
    out.push({
      at,
      text: isDay
        ? date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
        : date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' }),
    })
  }
  return out
}

/** A unit of gas prices for a whole axis. */
export interface GasUnit {
  readonly name: 'attoFIL' | 'nanoFIL'
  /** AttoFIL in it. */
  readonly size: number
}

/** One for all values: attoFIL while the least is short. @param least - attoFIL */
export function gasUnit(least: number): GasUnit {
  return least < 1e7 ? { name: 'attoFIL', size: 1 } : { name: 'nanoFIL', size: 1e9 }
}

/** A number of a few digits. */
export function axisNumber(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en').replaceAll(',', '\u202f')
  return String(Number(value.toPrecision(3)))
}

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })

/** A number beside an axis: `62.1M`. */
export function axisLabel(value: number): string {
  return value >= 1e4 ? COMPACT.format(value) : axisNumber(value)
}
