import { errorMessage } from 'petrel'
import { formatAmount, formatCount, shorten } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import type { MessageStage } from '../model/tracker.ts'
import type { TrackRow } from '../model/tracks.ts'
import { announce, byId, copyButton, h, icon, KeyedList, lookButton, replaceWhen } from './dom.ts'
import { sourceTag } from './source.ts'

const STEPS = ['pending', 'included', 'executed', 'confirmed', 'final'] as const

/** The tracked messages, each with the steps of its way. */
export class TrackPanel {
  readonly #monitor: Monitor
  readonly #list: KeyedList<TrackRow>
  readonly #stages = new Map<string, string>()

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    this.#list = new KeyedList(
      byId('track-list'),
      (row) => this.#create(row),
      (element, row) => this.#update(element, row),
    )
    const form = byId<HTMLFormElement>('track-form')
    const input = byId<HTMLInputElement>('track-cid')
    const complain = (text: string): void => {
      byId('track-error').textContent = text
      input.setAttribute('aria-invalid', String(text !== ''))
    }
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      try {
        this.#monitor.track(input.value)
      } catch (error) {
        complain(input.value.trim() === '' ? 'Which message?' : `This is no CID: ${errorMessage(error)}`)
        return
      }
      complain('')
      form.reset()
    })
    input.addEventListener('input', () => complain(''))
    const confirmations = byId<HTMLInputElement>('confirmations')
    confirmations.value = String(monitor.settings.confirmations)
    confirmations.addEventListener('change', () => {
      const value = Number(confirmations.value)
      if (value >= 1) this.#monitor.setConfirmations(value)
      confirmations.value = String(this.#monitor.settings.confirmations)
    })
  }

  show(): void {
    const rows = this.#monitor.trackRows
    this.#list.show(rows, ({ cid }) => cid)
    byId('track-empty').hidden = rows.length > 0
  }

  #create({ cid }: TrackRow): HTMLElement {
    const name = shorten(cid, 8, 6)
    const remove = (): void => {
      this.#monitor.untrack(cid)
      byId('track-cid').focus()
    }
    return h(
      'li',
      { class: 'card' },
      h(
        'div',
        { class: 'card-head' },
        h('h3', { class: 'mono' }, lookButton(cid, name, `message ${cid}`)),
        copyButton(cid, `message CID ${cid}`),
        h(
          'button',
          { type: 'button', class: 'icon-button', 'aria-label': `Stop tracking ${name}`, onclick: remove },
          icon('cross'),
        ),
      ),
      h('p', { class: 'what' }),
      h('ol', { class: 'steps' }, ...STEPS.map((step) => h('li', {}, step))),
      h('p', { class: 'stage' }),
    )
  }

  #update(element: HTMLElement, row: TrackRow): void {
    const { stage, source, sender, value, to } = row
    const what = element.querySelector('.what') as HTMLElement
    replaceWhen(what, `${sender?.from} ${value}`, () => [this.#what(row)])
    const reached = STEPS.indexOf(stage.at as (typeof STEPS)[number])
    const isFailed = 'exitCode' in stage && stage.exitCode !== 0
    element.querySelectorAll('.steps li').forEach((step, i) => {
      step.classList.toggle('done', i <= reached)
      step.classList.toggle('failed', isFailed && i >= 2 && i <= reached)
      if (i === reached) step.setAttribute('aria-current', 'step')
      else step.removeAttribute('aria-current')
    })
    const text = this.#stageText(stage)
    const line = element.querySelector('.stage') as HTMLElement
    line.classList.toggle('bad', isFailed || stage.at === 'replaced')
    replaceWhen(line, `${text} ${source}`, () => [h('span', { 'data-stage': stage.at }, text), sourceTag(source)])
    const before = this.#stages.get(row.cid)
    this.#stages.set(row.cid, stage.at)
    if (before !== undefined && before !== stage.at && stage.at !== 'searching') {
      announce(`Message ${to === undefined ? '' : `to ${shorten(to)} `}is ${stage.at}`)
    }
  }

  #what({ sender, value, to }: TrackRow): string {
    if (sender === undefined || value === undefined || to === undefined) return '\u00a0'
    const from = shorten(this.#monitor.print(sender.from), 6, 4)
    const amount = formatAmount(value)
    return `${amount.text} ${amount.unit} from ${from} to ${shorten(this.#monitor.print(to), 6, 4)}, nonce ${formatCount(sender.nonce)}`
  }

  #stageText(stage: MessageStage): string {
    switch (stage.at) {
      case 'searching':
        return 'Looking for it.'
      case 'unknown':
        return 'Neither in the pool nor on the last 2000 epochs of the chain.'
      case 'pending':
        return 'Waits in the pool.'
      case 'included':
        return `In a block of epoch ${formatCount(stage.height)}; the next tipset executes it.`
      case 'replaced':
        return stage.executed
          ? `Replaced: ${shorten(stage.by, 8, 6)} took its nonce and was executed.`
          : `Replaced by ${shorten(stage.by, 8, 6)}, which waits in the pool.`
      case 'executed':
      case 'confirmed':
      case 'final': {
        const outcome = stage.exitCode === 0 ? 'Executed' : `Failed with exit code ${stage.exitCode}`
        const depth = `${formatCount(stage.depth)} ${stage.depth === 1 ? 'epoch' : 'epochs'} deep`
        return `${outcome} at epoch ${formatCount(stage.height)}, ${depth}, ${formatCount(stage.gasUsed)} gas.`
      }
    }
  }
}
