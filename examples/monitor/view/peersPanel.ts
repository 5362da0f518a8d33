import type { AddrInfo } from 'petrel'
import { shorten } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import { byId, copyButton, h, KeyedList, replaceWhen, setText } from './dom.ts'
import { sourceTag } from './source.ts'

/** Who the node is connected to. */
export class PeersPanel {
  readonly #monitor: Monitor
  readonly #list: KeyedList<AddrInfo>
  readonly #note: HTMLElement

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    const list = h('ul', { class: 'peers' })
    this.#note = h('p', { class: 'empty' })
    const box = byId('peers-box')
    // What scrolls must be reachable by keyboard.
    box.tabIndex = 0
    box.append(list, this.#note)
    this.#list = new KeyedList(
      list,
      () =>
        h(
          'li',
          {},
          h('span', { class: 'mono id' }),
          h('span', { class: 'mono faint addr' }),
          h('span', { class: 'tool' }),
        ),
      (element, { id, addresses }) => {
        setText(element.querySelector('.id') as HTMLElement, shorten(id, 8, 6))
        setText(element.querySelector('.addr') as HTMLElement, addresses[0] ?? 'no address told')
        replaceWhen(element.querySelector('.tool') as HTMLElement, id, () => [copyButton(id, `peer id ${id}`)])
      },
    )
  }

  show(): void {
    const { wordSource, news } = this.#monitor
    const { peers, peersError } = news
    this.#list.show(peers ?? [], ({ id }) => id)
    const text =
      peersError !== undefined
        ? 'This node tells of no peers: it has no network, or does not list them.'
        : peers === undefined
          ? '…'
          : peers.length === 0
            ? 'Connected to nobody.'
            : ''
    setText(this.#note, text)
    this.#note.hidden = text === ''
    const source = wordSource === 'peer' ? 'tab' : 'server'
    replaceWhen(byId('peers-mark'), source, () =>
      source === 'tab' ? ['connections of this tab'] : [sourceTag('server')],
    )
  }
}
