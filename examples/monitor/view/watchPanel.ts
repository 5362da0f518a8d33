import { errorMessage } from 'petrel'
import { formatAmount, formatCount, shorten } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import { isIncoming, type SeenTransfer } from '../model/watch.ts'
import type { WatchRow } from '../model/watchlist.ts'
import { announce, byId, copyButton, h, icon, KeyedList, lookButton, replaceWhen } from './dom.ts'
import { sourceMark, sourceTag } from './source.ts'

/** Transfers of one address that are shown; their place is kept while there are fewer. */
const SHOWN_TRANSFERS = 3

/** The watched addresses. */
export class WatchPanel {
  readonly #monitor: Monitor
  readonly #list: KeyedList<WatchRow>
  readonly #announced = new Map<string, string | undefined>()

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    this.#list = new KeyedList(
      byId('watch-list'),
      (row) => this.#create(row),
      (element, row) => this.#update(element, row),
    )
    const form = byId<HTMLFormElement>('watch-form')
    const address = byId<HTMLInputElement>('watch-address')
    const label = byId<HTMLInputElement>('watch-label')
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      if (!this.#add(address.value, label.value)) return
      form.reset()
      address.focus()
    })
    address.addEventListener('input', () => this.#complain(undefined))
  }

  show(): void {
    const rows = this.#monitor.watchRows
    this.#list.show(rows, ({ address }) => address)
    const empty = byId('watch-empty')
    empty.hidden = rows.length > 0
    const suggestions = this.#monitor.info?.suggestions ?? []
    replaceWhen(empty, suggestions.join() || 'none', () => [
      'Balance and transfers of an address, as tipsets arrive.',
      ...(suggestions.length === 0
        ? []
        : [
            h(
              'span',
              { class: 'chips' },
              'This chain has funded accounts: ',
              ...suggestions.map((address, i) => {
                const watch = (): void => void this.#add(address, `Account ${i + 1}`)
                return h(
                  'button',
                  { type: 'button', class: 'chip mono', onclick: watch },
                  shorten(this.#monitor.print(address)),
                )
              }),
            ),
          ]),
    ])
  }

  #add(address: string, label: string): boolean {
    try {
      this.#monitor.watch(address, label)
    } catch (error) {
      this.#complain(address.trim() === '' ? 'Which address?' : `This is no Filecoin address: ${errorMessage(error)}`)
      return false
    }
    this.#complain(undefined)
    announce('Address is watched')
    return true
  }

  #complain(text: string | undefined): void {
    byId('watch-error').textContent = text ?? ''
    byId('watch-address').setAttribute('aria-invalid', String(text !== undefined))
  }

  #create({ address, label }: WatchRow): HTMLElement {
    const name = label === '' ? shorten(this.#monitor.print(address)) : label
    const remove = (): void => {
      this.#monitor.unwatch(address)
      byId('watch-address').focus()
    }
    return h(
      'li',
      { class: 'card' },
      h(
        'div',
        { class: 'card-head' },
        h('h3', {}, name),
        h(
          'button',
          { type: 'button', class: 'icon-button', 'aria-label': `Stop watching ${name}`, onclick: remove },
          icon('cross'),
        ),
      ),
      h('p', { class: 'address mono' }),
      h('p', { class: 'balance' }),
      h('p', { class: 'pending' }),
      h('ul', { class: 'transfers' }),
    )
  }

  #update(element: HTMLElement, row: WatchRow): void {
    const printed = this.#monitor.print(row.address)
    replaceWhen(part(element, 'address'), printed, () => [
      lookButton(printed, shorten(printed, 12, 8), `address ${printed}`),
      copyButton(printed, `address ${printed}`),
    ])
    replaceWhen(part(element, 'balance'), `${row.balance} ${row.source} ${row.error}`, () => balance(row))
    const pending = [
      row.pendingIn === 0 ? '' : `${row.pendingIn} waiting to come in`,
      row.pendingOut === 0 ? '' : `${row.pendingOut} waiting to go out`,
    ]
    replaceWhen(part(element, 'pending'), pending.join(), () => [
      pending.filter(Boolean).join(', ') || 'nothing waiting',
    ])
    const shown = row.transfers.slice(0, SHOWN_TRANSFERS)
    const trouble = this.#monitor.transfersError
    replaceWhen(
      part(element, 'transfers'),
      `${shown.map(({ id }) => id).join()} ${trouble} ${this.#monitor.areTransfersKnown}`,
      () => this.#transfers(row, shown, trouble),
    )
    this.#announce(row)
  }

  #transfers(row: WatchRow, shown: readonly SeenTransfer[], trouble: string | undefined): HTMLElement[] {
    const lines = shown.map((transfer) => this.#transfer(transfer, row))
    if (lines.length === 0) {
      const text =
        trouble !== undefined
          ? `The node cannot list transfers: ${trouble}`
          : this.#monitor.areTransfersKnown
            ? 'No transfers in the last epochs.'
            : '…'
      lines.push(h('li', { class: 'faint' }, text))
    }
    // Where there is one others follow: their place is kept.
    while (shown.length > 0 && lines.length < SHOWN_TRANSFERS) {
      lines.push(h('li', { 'aria-hidden': 'true' }, '\u00a0'))
    }
    return lines
  }

  #transfer(transfer: SeenTransfer, { address }: WatchRow): HTMLElement {
    const isIn = isIncoming(transfer, address)
    const other = this.#monitor.print(isIn ? transfer.from : transfer.to)
    const { text, unit, exact } = formatAmount(transfer.value)
    const what =
      transfer.kind === 'message' ? '' : transfer.kind === 'internal' ? ' inside a call' : ` ${transfer.kind}`
    return h(
      'li',
      { class: isIn ? 'in' : 'out' },
      h(
        'span',
        { class: 'num value', title: `${exact} FIL` },
        `${text.startsWith('<') ? '' : isIn ? '+' : '−'}${text} ${unit}`,
      ),
      h(
        'span',
        { class: 'other' },
        `${isIn ? 'from' : 'to'} `,
        h('span', { class: 'mono', title: other }, shorten(other, 6, 4)),
        what,
      ),
      h('span', { class: 'num at' }, formatCount(transfer.height)),
      sourceMark(this.#monitor.sourceOf(transfer.tipset)),
    )
  }

  /** Only what comes in is worth an interruption. */
  #announce({ address, label, transfers }: WatchRow): void {
    const newest = transfers.find((transfer) => isIncoming(transfer, address))
    const isFirst = !this.#announced.has(address)
    const before = this.#announced.get(address)
    this.#announced.set(address, newest?.id)
    if (isFirst || newest === undefined || before === newest.id) return
    announce(`${formatAmount(newest.value).text} FIL came to ${label || shorten(address)}`)
  }
}

function balance({ balance: value, source, error }: WatchRow): (Node | string)[] {
  if (error !== undefined) return [h('span', { class: 'bad' }, error)]
  if (value === undefined) return [h('span', { class: 'faint' }, '…')]
  if (value === null)
    return [
      h('span', { class: 'amount num' }, '0'),
      ' FIL ',
      h('span', { class: 'faint' }, 'no actor yet'),
      sourceTag(source),
    ]
  const { text, unit, exact } = formatAmount(value)
  return [
    h('span', { class: 'amount num', title: `${exact} FIL` }, text),
    ` ${unit} `,
    copyButton(exact, `balance ${exact} FIL`),
    sourceTag(source),
  ]
}

function part(element: HTMLElement, name: string): HTMLElement {
  return element.querySelector(`.${name}`) as HTMLElement
}
