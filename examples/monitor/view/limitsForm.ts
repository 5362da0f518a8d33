/** The reader's limits: a base fee, and a balance for each watched address. */
import { parseFil } from 'petrel'
import { formatAmount, shorten } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import type { WatchRow } from '../model/watchlist.ts'
import { byId, h, KeyedList, setText } from './dom.ts'

const NANO = 10n ** 9n

/** A number with decimals as a whole one of the smaller unit; undefined: it is none. */
export function scaled(text: string, unit: bigint): bigint | undefined {
  const match = /^(\d{1,12})(?:[.,](\d{1,18}))?$/.exec(text.trim())
  if (match === null) return undefined
  const [, whole = '0', fraction = ''] = match
  return BigInt(whole) * unit + (BigInt(fraction === '' ? 0 : fraction) * unit) / 10n ** BigInt(fraction.length)
}

/** Wires an input: empty is no limit. */
function bind(
  input: HTMLInputElement,
  parse: (text: string) => bigint | undefined,
  set: (value: bigint | undefined) => void,
): void {
  input.addEventListener('change', () => {
    const value = parse(input.value)
    const isWrong = value === undefined && input.value.trim() !== ''
    input.setAttribute('aria-invalid', String(isWrong))
    if (!isWrong) set(value)
  })
}

function filOf(text: string): bigint | undefined {
  return scaled(text, 10n ** 18n) === undefined ? undefined : parseFil(text.trim().replace(',', '.'))
}

/** The form's inputs, bound to the settings. */
export class LimitsForm {
  readonly #monitor: Monitor
  readonly #floors: KeyedList<WatchRow>

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    const fee = byId<HTMLInputElement>('fee-limit')
    const { feeLimit } = monitor.settings
    fee.value = feeLimit === undefined ? '' : decimals(feeLimit, NANO)
    bind(
      fee,
      (text) => scaled(text, NANO),
      (value) => monitor.setFeeLimit(value),
    )
    this.#floors = new KeyedList(
      byId('floors'),
      ({ address, floor }) => {
        const input = h('input', {
          class: 'small num',
          inputmode: 'decimal',
          autocomplete: 'off',
          value: floor === undefined ? undefined : formatAmount(floor).exact,
        })
        bind(input, filOf, (value) => monitor.setFloor(address, value))
        return h('li', {}, h('label', {}, h('span', { class: 'of' }), input, ' FIL'))
      },
      (element, row) => setText(element.querySelector('.of') as HTMLElement, `${this.#name(row)} below`),
    )
    byId('limits-form').addEventListener('submit', (event) => event.preventDefault())
  }

  show(): void {
    this.#floors.show(this.#monitor.watchRows, ({ address }) => address)
  }

  #name({ label, address }: WatchRow): string {
    return label === '' ? shorten(this.#monitor.print(address)) : label
  }
}

function decimals(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '')
  return `${value / unit}${fraction === '' ? '' : `.${fraction}`}`
}
