/** Numbers and names as the page prints them. */
import { filNumber, type TokenAmount } from 'petrel'

/** Narrow no-break space: groups digits without looking like a decimal sign anywhere. */
const GROUP = '\u202f'
const SHOWN_DECIMALS = 6
const NANO = 10n ** 9n

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, GROUP)
}

/** `1 234`. */
export function formatCount(value: number | bigint): string {
  return grouped(String(value))
}

/** An amount in parts. `exact` is the whole number, for copying. */
export interface Amount {
  readonly text: string
  readonly unit: string
  readonly exact: string
}

/** FIL, at most six decimals, cut and not rounded up: nobody owns more than is shown. `…` where digits are left out. */
export function formatAmount(value: TokenAmount): Amount {
  const exact = filNumber(value)
  const [whole = '0', fraction = ''] = exact.replace('-', '').split('.')
  const sign = value < 0n ? '−' : ''
  const shown = fraction.slice(0, SHOWN_DECIMALS).replace(/0+$/, '')
  const isCut = fraction.length > SHOWN_DECIMALS
  if (isCut && whole === '0' && shown === '') return { text: `${sign}< 0.000001`, unit: 'FIL', exact }
  const text = `${sign}${grouped(whole)}${shown === '' ? '' : `.${shown}`}${isCut ? '…' : ''}`
  return { text, unit: 'FIL', exact }
}

/** Units of gas prices. */
type GasUnit = 'attoFIL' | 'nanoFIL'

/** AttoFIL while that is short. */
function gasUnit(value: TokenAmount): GasUnit {
  return value < NANO / 1000n ? 'attoFIL' : 'nanoFIL'
}

/** A price of gas, three digits of nanoFIL that tell something. */
export function formatGasPrice(value: TokenAmount): Amount {
  const exact = filNumber(value)
  const unit = gasUnit(value)
  if (unit === 'attoFIL') return { text: grouped(value.toString()), unit, exact }
  const nano = Number(value) / Number(NANO)
  const decimals = nano >= 100 ? 0 : nano >= 1 ? 2 : nano >= 0.1 ? 3 : nano >= 0.01 ? 4 : 5
  const [whole = '0', fraction] = nano.toFixed(decimals).split('.')
  return { text: `${grouped(whole)}${fraction === undefined ? '' : `.${fraction}`}`, unit, exact }
}

/** `f1abjx…2p3za`; what is short stays whole. */
export function shorten(text: string, head = 8, tail = 5): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`
}

const KILO = 1000

/** `640 B`, `12 kB`, `3.4 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < KILO) return `${bytes} B`
  return bytes < KILO * KILO ? `${Math.round(bytes / KILO)} kB` : `${(bytes / KILO / KILO).toFixed(1)} MB`
}

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/** Seconds as `4 s`, `3 min`, `2 h 5 min`, `3 d`. */
export function formatAge(seconds: number): string {
  const s = Math.max(0, Math.round(seconds))
  if (s < 2 * MINUTE) return `${s} s`
  if (s < HOUR) return `${Math.floor(s / MINUTE)} min`
  if (s < DAY) return `${Math.floor(s / HOUR)} h ${Math.floor((s % HOUR) / MINUTE)} min`
  return `${Math.floor(s / DAY)} d`
}

/** Local time of day, `09:41:07`. */
export function formatTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toLocaleTimeString('en-GB')
}
