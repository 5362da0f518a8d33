import { SHOWN_EPOCHS } from '../model/chainFollower.ts'
import type { Epoch, TipsetView } from '../model/chainWindow.ts'
import { finalityShare } from '../model/finality.ts'
import { formatCount, formatTime, shorten } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import { axisNumber, gasUnit } from './axis.ts'
import { byId, copyButton, h, lookButton, replaceWhen, setText } from './dom.ts'
import { sourceMark } from './source.ts'

interface Row {
  readonly element: HTMLTableRowElement
  readonly epoch: HTMLElement
  readonly time: HTMLElement
  readonly blocks: HTMLElement
  readonly messages: HTMLElement
  readonly fee: HTMLElement
  readonly finality: HTMLElement
  readonly bar: HTMLElement
  readonly word: HTMLElement
  readonly key: HTMLElement
  readonly source: HTMLElement
}

const FEE_COLUMN = 4
/** Squares that fit a cell; more blocks are a number alone. */
const MOST_SQUARES = 8

function createRow(): Row {
  const epoch = h('th', { scope: 'row', class: 'num' })
  const time = h('td', { class: 'num wide' })
  const blocks = h('td', { class: 'blocks' })
  const messages = h('td', { class: 'num right' })
  const fee = h('td', { class: 'num right wide' })
  const bar = h('span', {})
  const word = h('span', { class: 'word num' })
  const finality = h('td', { class: 'finality' }, h('span', { class: 'track', 'aria-hidden': 'true' }, bar), word)
  const key = h('td', { class: 'mono wide key' })
  const source = h('td', { class: 'mark' })
  const element = h('tr', {}, epoch, time, blocks, messages, fee, finality, key, source)
  return { element, epoch, time, blocks, messages, fee, finality, bar, word, key, source }
}

/** The newest epochs: a table of a fixed number of rows, so that nothing moves while it ticks. */
export class EpochTable {
  readonly #monitor: Monitor
  readonly #rows: readonly Row[]
  readonly #feeHead: HTMLElement
  #unit = gasUnit(0)

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    this.#rows = Array.from({ length: SHOWN_EPOCHS }, createRow)
    const heads = [
      ['Epoch', ''],
      ['Time', 'wide'],
      ['Blocks', ''],
      ['Messages', 'right'],
      ['Base fee', 'right wide'],
      ['Finality', ''],
      ['Tipset', 'wide'],
      ['Source', 'mark'],
    ].map(([name, kind]) =>
      h(
        'th',
        { scope: 'col', class: kind ?? '' },
        kind === 'mark' ? h('span', { class: 'sr' }, name ?? '') : (name ?? ''),
      ),
    )
    this.#feeHead = heads[FEE_COLUMN] as HTMLElement
    byId('epoch-box').append(
      h(
        'table',
        { class: 'epochs' },
        h('caption', { class: 'sr' }, 'The newest epochs, newest first'),
        h('thead', {}, h('tr', {}, ...heads)),
        h('tbody', {}, ...this.#rows.map(({ element }) => element)),
      ),
    )
  }

  show(): void {
    const epochs = this.#monitor.window?.epochs(SHOWN_EPOCHS) ?? []
    // One unit for all that stand below each other.
    const fees = epochs.flatMap(({ tipset }) => (tipset === undefined ? [] : [Number(tipset.baseFee)]))
    this.#unit = gasUnit(fees.length === 0 ? 0 : Math.min(...fees))
    setText(this.#feeHead, `Fee, ${this.#unit.name}`)
    for (const [i, row] of this.#rows.entries()) this.#showRow(row, epochs[i])
    const [reorg] = this.#monitor.reorgs
    setText(
      byId('epochs-note'),
      reorg === undefined
        ? ''
        : `last reorganisation: ${reorg.epochs} ${reorg.epochs === 1 ? 'epoch' : 'epochs'} from ${formatCount(reorg.at)} on`,
    )
  }

  #showRow(row: Row, epoch: Epoch | undefined): void {
    row.element.classList.toggle('is-empty', epoch === undefined)
    row.element.setAttribute('aria-hidden', String(epoch === undefined))
    row.element.classList.toggle('is-null', epoch !== undefined && epoch.tipset === undefined)
    const isBone = epoch === undefined && this.#monitor.head === undefined
    row.element.classList.toggle('is-bone', isBone)
    const { height } = epoch ?? {}
    replaceWhen(row.epoch, `${height} ${epoch?.tipset === undefined}`, () => {
      if (height === undefined) return ['\u00a0']
      if (epoch?.tipset === undefined) return [formatCount(height)]
      return [lookButton(String(height), formatCount(height), `tipset of epoch ${height}`, 'num')]
    })
    if (epoch?.tipset !== undefined) {
      this.#showTipset(row, epoch.tipset)
      return
    }
    for (const cell of [row.time, row.messages, row.fee, row.word]) setText(cell, '')
    for (const cell of [row.key, row.source]) replaceWhen(cell, '', () => [])
    replaceWhen(row.blocks, epoch === undefined ? '' : 'null', () => (epoch === undefined ? [] : ['null round']))
    row.bar.style.inlineSize = '0'
  }

  #showTipset(row: Row, tipset: TipsetView): void {
    const { finality } = this.#monitor
    setText(row.time, formatTime(tipset.timestamp))
    replaceWhen(row.blocks, tipset.miners.join(), () => blockSquares(tipset.miners))
    const contents = this.#monitor.contentsOf(tipset.key)
    setText(
      row.messages,
      contents === undefined ? '…' : contents.at === 'known' ? formatCount(contents.count) : 'withheld',
    )
    row.messages.classList.toggle('bad', contents?.at === 'withheld')
    setText(row.fee, axisNumber(Number(tipset.baseFee) / this.#unit.size))
    const state = finality?.at(tipset.height)
    row.bar.style.inlineSize = `${(100 * (state === undefined ? 0 : finalityShare(state))).toFixed(0)}%`
    row.finality.classList.toggle('is-final', state?.isFinal ?? false)
    setText(
      row.word,
      state === undefined ? '…' : state.isFinal ? 'final' : state.depth === 0 ? 'head' : riskText(state.bits),
    )
    row.word.title = state === undefined ? '' : `${state.depth} epochs deep`
    const first = tipset.key[0]?.toString() ?? ''
    replaceWhen(row.key, first, () => [
      shorten(first, 4, 4),
      copyButton(tipset.key.join(' '), `tipset of epoch ${tipset.height}`),
    ])
    const source = this.#monitor.sourceOf(tipset.key)
    replaceWhen(row.source, source, () => [sourceMark(source)])
  }
}

/** The chance of a reorganisation as "1 in …". */
function riskText(bits: number): string {
  if (bits < 1) return 'open'
  const power = Math.floor(bits * Math.log10(2))
  return power < 1 ? `1 in ${Math.floor(2 ** bits)}` : `1 in 10${superscript(power)}`
}

function superscript(value: number): string {
  return [...String(value)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')
}

function blockSquares(miners: readonly string[]): Node[] {
  const squares = miners.slice(0, MOST_SQUARES).map((miner) => h('i', { title: miner }))
  return [
    h('span', { class: 'squares', 'aria-hidden': 'true' }, ...squares),
    h('span', { class: 'count num' }, String(miners.length)),
    h('span', { class: 'sr' }, ` ${miners.length === 1 ? 'block' : 'blocks'} by ${miners.join(', ')}`),
  ]
}
