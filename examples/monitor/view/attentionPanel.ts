import { type AttentionItem, attentionOf } from '../model/attention.ts'
import type { Monitor } from '../model/monitor.ts'
import { announce, byId, copyButton, h, icon, KeyedList, lookButton, replaceWhen, setText } from './dom.ts'

const KINDS = { bad: 'Urgent', warn: 'Soon', info: 'To know' } as const
const WARNING = '⚠'

function iconHref(isWarning: boolean): string {
  const shape = isWarning
    ? "%3Cpath d='M16 3l14 25H2z' fill='%23c8780a'/%3E%3Cpath d='M16 12v8M16 23v2' stroke='white' stroke-width='3'/%3E"
    : "%3Cpath d='M2 12c8-3 12 0 14 5 2-5 6-8 14-5-7 1-10 5-11 10h-6C12 17 9 13 2 12z' fill='%230a6a6f'/%3E"
  return `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E${shape}%3C/svg%3E`
}

/** What needs attention: a list, the mark in title and icon, and news for the system where the reader wants them. */
export class AttentionPanel {
  readonly #monitor: Monitor
  readonly #list: KeyedList<AttentionItem>
  /** What was told of; undefined: nothing was looked at yet. */
  #told: ReadonlySet<string> | undefined

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    this.#list = new KeyedList(
      byId('attention-list'),
      ({ kind }) =>
        h(
          'li',
          { class: 'item' },
          h('span', { class: 'sign' }, icon(kind), h('span', { class: 'sr' }, KINDS[kind])),
          h('div', { class: 'said' }, h('h3', {}), h('p', {}), h('p', { class: 'repair' })),
        ),
      (element, item) => this.#update(element, item),
    )
    const bell = byId<HTMLButtonElement>('notify')
    bell.hidden = typeof Notification === 'undefined'
    bell.append(icon('bell'))
    bell.addEventListener('click', () => void this.#toggle())
  }

  show(): void {
    const items = attentionOf(this.#monitor, Date.now())
    this.#list.show(items, ({ id, kind }) => `${kind} ${id}`)
    const serious = items.filter(({ kind }) => kind !== 'info').length
    setText(byId('attention-count'), serious === 0 ? '' : String(serious))
    const isKnown = this.#monitor.head !== undefined
    const empty = byId('attention-empty')
    empty.hidden = items.length > 0
    setText(empty, isKnown ? 'Nothing needs attention.' : 'Nothing is known yet.')
    const { head } = this.#monitor
    const title = head === undefined ? 'Petrel monitor' : `${head.height} · Petrel monitor`
    document.title = serious === 0 ? title : `${WARNING} ${title}`
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    const href = iconHref(serious > 0)
    if (link !== null && link.href !== href) link.href = href
    this.#tell(items)
    const { notifies } = this.#monitor.settings
    const isOn = notifies === true && Notification.permission === 'granted'
    byId('notify').setAttribute('aria-pressed', String(isOn))
    byId('notify').title = isOn ? 'Notifications are on' : 'Notify me'
  }

  #update(element: HTMLElement, { kind, title, text, command, query }: AttentionItem): void {
    element.dataset.kind = kind
    replaceWhen(element.querySelector('h3') as HTMLElement, title + (query ?? ''), () => [
      query === undefined ? title : lookButton(query, title, title, ''),
    ])
    setText(element.querySelector('.said > p') as HTMLElement, text)
    const repair = element.querySelector('.repair') as HTMLElement
    repair.hidden = command === undefined
    replaceWhen(repair, command ?? '', () =>
      command === undefined ? [] : [h('code', { class: 'mono' }, command), copyButton(command, 'command')],
    )
  }

  async #toggle(): Promise<void> {
    const { notifies } = this.#monitor.settings
    if (notifies === true) {
      this.#monitor.setNotifies(false)
      return
    }
    const permission = await Notification.requestPermission()
    if (permission === 'granted') this.#monitor.setNotifies(true)
    announce(permission === 'granted' ? 'Notifications are on' : 'The browser does not allow notifications')
  }

  /** What is new, to screen readers and, while the reader looks elsewhere, to the system. */
  #tell(items: readonly AttentionItem[]): void {
    const fresh = items.filter(({ id, kind }) => kind !== 'info' && this.#told?.has(id) === false)
    this.#told = new Set(items.map(({ id }) => id))
    for (const { title, text, id } of fresh) {
      announce(`${title}. ${text}`)
      const isWanted = this.#monitor.settings.notifies === true && document.visibilityState === 'hidden'
      if (isWanted && Notification.permission === 'granted') new Notification(title, { body: text, tag: id })
    }
  }
}
