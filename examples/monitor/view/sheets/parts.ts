/** What sheets are made of: facts, sections that fill themselves when their answer comes, lists. */
import { errorMessage } from 'petrel'
import { formatAmount, formatCount, shorten } from '../../model/format.ts'
import type { MonitorNode } from '../../model/methods.ts'
import type { Monitor } from '../../model/monitor.ts'
import { copyButton, h, lookButton } from '../dom.ts'

/** What a sheet is drawn with. */
export interface SheetView {
  readonly monitor: Monitor
  readonly node: MonitorNode
}

/** A drawn sheet. */
export interface DrawnSheet {
  readonly title: string
  readonly parts: readonly HTMLElement[]
}

type Value = Node | string

/** A row of facts; undefined: it is left out. */
export type Fact = readonly [string, ...Value[]] | undefined

/** Rows of a name and what it is. */
export function facts(rows: readonly Fact[]): HTMLElement {
  return h(
    'dl',
    { class: 'sheet-facts' },
    ...rows.flatMap((row) => {
      if (row === undefined) return []
      const [name, ...values] = row
      return [h('div', {}, h('dt', {}, name), h('dd', {}, ...values))]
    }),
  )
}

/** A titled part. */
export function section(title: string, ...children: Value[]): HTMLElement {
  return h('section', { class: 'sheet-part' }, h('h3', {}, title), ...children)
}

const BONES = 3

/** A titled part whose content comes later; bones until then, and the reason when it does not come. */
export function later<T>(title: string, answer: Promise<T>, draw: (value: T) => readonly Value[]): HTMLElement {
  const bones = Array.from({ length: BONES }, () => h('p', { class: 'bone' }, '\u00a0'))
  const box = h('div', { 'aria-busy': 'true' }, ...bones)
  const put = (content: readonly Value[]): void => {
    box.removeAttribute('aria-busy')
    box.replaceChildren(...content)
  }
  answer.then(
    (value) => put(draw(value)),
    (error: unknown) => put([h('p', { class: 'faint' }, `The node does not tell: ${errorMessage(error)}`)]),
  )
  return section(title, box)
}

/** A CID, shortened, with its copy. */
export function cidText(text: string, what: string): HTMLElement {
  return h(
    'span',
    { class: 'copied' },
    h('span', { class: 'mono' }, shorten(text, 12, 8)),
    copyButton(text, `${what} ${text}`),
  )
}

/** An address that leads to its sheet. @param address - with the letter f */
export function addressLink(monitor: Monitor, address: string): HTMLElement {
  const printed = monitor.print(address)
  const label = monitor.settings.watched.find((entry) => entry.address === address)?.label ?? ''
  return lookButton(
    printed,
    label === '' ? shorten(printed, 10, 6) : label,
    `address ${printed}`,
    label === '' ? 'mono' : '',
  )
}

/** The same with its copy. @param address - with the letter f */
export function addressFact(monitor: Monitor, address: string): HTMLElement {
  const printed = monitor.print(address)
  return h('span', { class: 'copied' }, addressLink(monitor, address), copyButton(printed, `address ${printed}`))
}

export function amountText(value: bigint): HTMLElement {
  const { text, exact } = formatAmount(value)
  return h('span', { class: 'num', title: `${exact} FIL` }, `${text} FIL`)
}

export function epochLink(height: number): HTMLElement {
  return lookButton(String(height), formatCount(height), `tipset of epoch ${height}`, 'num')
}

/** A table-like list; says how many are left out. */
export function list(items: readonly HTMLElement[], most: number, none: string): HTMLElement[] {
  if (items.length === 0) return [h('p', { class: 'faint' }, none)]
  const more = items.length - most
  return [
    h('ul', { class: 'sheet-list' }, ...items.slice(0, most)),
    ...(more > 0 ? [h('p', { class: 'faint' }, `and ${formatCount(more)} more`)] : []),
  ]
}
