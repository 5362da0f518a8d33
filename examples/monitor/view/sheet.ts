import { errorMessage } from 'petrel'
import { findThing, type Thing } from '../model/lookup/query.ts'
import type { Monitor } from '../model/monitor.ts'
import { byId, h, icon } from './dom.ts'
import { addressSheet } from './sheets/addressSheet.ts'
import { blockSheet, tipsetSheet } from './sheets/chainSheets.ts'
import { messageSheet } from './sheets/messageSheet.ts'
import type { DrawnSheet, SheetView } from './sheets/parts.ts'

const BONES = 6

function draw(view: SheetView, thing: Thing): Promise<DrawnSheet> {
  switch (thing.kind) {
    case 'tipset':
      return tipsetSheet(view, thing.key)
    case 'block':
      return blockSheet(view, thing.cid)
    case 'message':
      return messageSheet(view, thing.cid)
    case 'address':
      return addressSheet(view, thing.address)
  }
}

/** The side sheet: one thing at a time, with the way back to those before it. */
export class Sheet {
  readonly #monitor: Monitor
  readonly #dialog = byId<HTMLDialogElement>('sheet')
  readonly #stack: string[] = []
  /** Of what is drawn; what comes late for another is dropped. */
  #run = 0

  constructor(monitor: Monitor) {
    this.#monitor = monitor
    // What scrolls must be reachable by keyboard.
    byId('sheet-body').tabIndex = 0
    byId('sheet-close').append(icon('cross'))
    byId('sheet-back').append(icon('back'))
    byId('sheet-close').addEventListener('click', () => this.#dialog.close())
    byId('sheet-back').addEventListener('click', () => this.#back())
    this.#dialog.addEventListener('close', () => {
      this.#stack.length = 0
      this.#run++
    })
    // Beside the sheet: what is below it is wanted again.
    this.#dialog.addEventListener('click', (event) => {
      if (event.target === this.#dialog) this.#dialog.close()
    })
    document.addEventListener('click', (event) => {
      const button = (event.target as Element).closest<HTMLElement>('[data-look]')
      if (button?.dataset.look !== undefined) this.open(button.dataset.look)
    })
    const form = byId<HTMLFormElement>('search-form')
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      this.open(byId<HTMLInputElement>('search').value)
    })
    document.addEventListener('keydown', (event) => {
      const isTyping = (event.target as Element).closest('input, textarea, select, dialog') !== null
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      // What was looked for before is typed over.
      const field = byId<HTMLInputElement>('search')
      field.focus()
      field.select()
    })
  }

  /** Shows what a text means. */
  open(query: string): void {
    const text = query.trim()
    if (text === '') return
    if (this.#stack.at(-1) !== text) this.#stack.push(text)
    if (!this.#dialog.open) this.#dialog.showModal()
    void this.#show(text)
  }

  #back(): void {
    this.#stack.pop()
    const before = this.#stack.at(-1)
    if (before === undefined) this.#dialog.close()
    else void this.#show(before)
  }

  async #show(text: string): Promise<void> {
    const run = ++this.#run
    byId('sheet-back').hidden = this.#stack.length < 2
    const body = byId('sheet-body')
    const { node, head } = this.#monitor
    this.#put(
      'Looking …',
      [...Array(BONES)].map(() => h('p', { class: 'bone' }, '\u00a0')),
    )
    body.setAttribute('aria-busy', 'true')
    try {
      if (node === undefined) throw new Error('there is no connection to a node')
      const thing = await findThing(node, head?.key ?? [], text)
      const { title, parts } = await draw({ monitor: this.#monitor, node }, thing)
      if (run === this.#run) this.#put(title, parts)
    } catch (error) {
      if (run === this.#run) this.#put('Not found', [h('p', {}, `${text}: ${errorMessage(error)}`)])
    } finally {
      if (run === this.#run) body.removeAttribute('aria-busy')
    }
  }

  #put(title: string, parts: readonly HTMLElement[]): void {
    byId('sheet-title').textContent = title
    const body = byId('sheet-body')
    body.replaceChildren(...parts)
    body.scrollTop = 0
  }
}
