import { formatAmount, formatCount, formatGasPrice, shorten } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import type { PendingMessage, PoolSender } from '../model/pool.ts'
import { announce, byId, h, KeyedList, lookButton, replaceWhen } from './dom.ts'
import { PoolCharts } from './poolCharts.ts'
import { sourceTag } from './source.ts'

const SHOWN_SENDERS = 50
const SHOWN_MESSAGES = 20

/** Waiting messages, by sender. */
export class PoolPanel {
  readonly #monitor: Monitor
  readonly #list: KeyedList<PoolSender>
  readonly #note: HTMLElement
  readonly #charts: PoolCharts

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    this.#charts = new PoolCharts(monitor)
    const list = h('ul', { class: 'senders' })
    this.#note = h('p', { class: 'empty' })
    const box = byId('pool-box')
    // What scrolls must be reachable by keyboard.
    box.tabIndex = 0
    box.append(list, this.#note)
    this.#list = new KeyedList(
      list,
      () => h('li', {}, h('details', {}, h('summary', {}), h('ul', { class: 'pending-list' }))),
      (element, sender) => this.#update(element, sender),
    )
  }

  show(): void {
    const { wordSource, poolWatch } = this.#monitor
    const { error: poolError, waiting } = poolWatch
    this.#charts.show()
    const senders = this.#monitor.pool.senders(this.#monitor.info?.prefix ?? 'f')
    this.#list.show(senders.slice(0, SHOWN_SENDERS), ({ from }) => from)
    const more = senders.length - SHOWN_SENDERS
    const text =
      poolError !== undefined
        ? `The node does not tell: ${poolError}`
        : waiting === undefined
          ? '…'
          : senders.length === 0
            ? 'Nothing waits: every message is in a block.'
            : more > 0
              ? `and ${formatCount(more)} more senders`
              : ''
    if (this.#note.textContent !== text) this.#note.textContent = text
    this.#note.hidden = text === ''
    replaceWhen(byId('pool-mark'), wordSource, () => [
      wordSource === 'peer' ? 'what this tab was told of' : sourceTag(wordSource),
    ])
  }

  #update(element: HTMLElement, { from, messages, value }: PoolSender): void {
    const key = messages.map(({ cid }) => cid).join()
    const first = messages[0] as PendingMessage
    const last = messages.at(-1) as PendingMessage
    const amount = formatAmount(value)
    const nonces =
      messages.length === 1
        ? `nonce ${first.message.message.nonce}`
        : `nonces ${first.message.message.nonce}–${last.message.message.nonce}`
    replaceWhen(element.querySelector('summary') as HTMLElement, key, () => [
      h('span', { class: 'mono from', title: from }, shorten(from)),
      h('span', { class: 'num count' }, `${messages.length} ${messages.length === 1 ? 'message' : 'messages'}`),
      h('span', { class: 'num faint nonces' }, nonces),
      h('span', { class: 'num value', title: `${amount.exact} FIL` }, `${amount.text} FIL`),
    ])
    replaceWhen(element.querySelector('.pending-list') as HTMLElement, key, () =>
      messages.slice(0, SHOWN_MESSAGES).map((pooled) => this.#message(pooled)),
    )
  }

  #message({ cid, message: { message } }: PendingMessage): HTMLElement {
    const to = this.#monitor.print(message.to.toString('f'))
    const { text } = formatAmount(message.value)
    const cap = formatGasPrice(message.gasFeeCap)
    const track = (): void => {
      this.#monitor.track(cid)
      announce('Message is tracked')
    }
    return h(
      'li',
      {},
      lookButton(cid, `${message.nonce}`, `message with nonce ${message.nonce}`, 'num'),
      h('span', { class: 'to' }, 'to ', lookButton(to, shorten(to, 6, 4), `address ${to}`)),
      h('span', { class: 'num value' }, `${text} FIL`),
      h('span', { class: 'num faint cap' }, `at most ${cap.text} ${cap.unit}`),
      h(
        'button',
        {
          type: 'button',
          class: 'quiet tiny',
          'aria-label': `Track message with nonce ${message.nonce}`,
          onclick: track,
        },
        'Track',
      ),
    )
  }
}
