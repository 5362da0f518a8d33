/** The page's own helpers: elements, icons, lists that keep their elements. */

type Child = Node | string | undefined

/** Attributes; `class` and `text` are what they say, functions named `on…` are listeners. */
export type Attributes = Readonly<Record<string, string | boolean | ((event: Event) => void) | undefined>>

/** Makes an element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (typeof value === 'string') element.setAttribute(name, value)
  }
  for (const child of children) if (child !== undefined) element.append(child)
  return element
}

/** The element of an id; the page's own markup has it. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T
}

/** Sets text only where it differs: no needless work for the browser or a screen reader. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** A value, or a bone in its place while nobody has told it. */
export function setValue(element: Element, text: string | undefined): void {
  element.classList.toggle('bone', text === undefined)
  setText(element, text ?? '\u00a0')
}

/** Replaces the children only when `key` changed since the last time. */
export function replaceWhen(element: Element, key: string, make: () => Child[]): void {
  if (element.getAttribute('data-key') === key) return
  element.setAttribute('data-key', key)
  element.replaceChildren(...make().filter((child) => child !== undefined))
}

const SVG = 'http://www.w3.org/2000/svg'

/** Makes an SVG element. */
export function svg(
  tag: string,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: Node[]
): SVGElement {
  const element = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  element.append(...children)
  return element
}

const ICONS = {
  copy: 'M5 5V2.5h8.5V11H11M2.5 5H11v8.5H2.5z',
  check: 'M3 8.5l3.2 3.2L13 4.8',
  cross: 'M4 4l8 8M12 4l-8 8',
  sun: 'M8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3.05 3.05l1.1 1.1M11.85 11.85l1.1 1.1M3.05 12.95l1.1-1.1M11.85 4.15l1.1-1.1M8 5.2a2.8 2.8 0 100 5.6 2.8 2.8 0 000-5.6z',
  moon: 'M13.5 9.8A6 6 0 016.2 2.5a6 6 0 107.3 7.3z',
  proven: 'M8 1.6l5.2 2v4.1c0 3.2-2.1 5.6-5.2 6.8-3.1-1.2-5.2-3.6-5.2-6.8V3.6zM5.6 8l1.7 1.7 3.2-3.4',
  word: 'M2.5 3h11v7.6H7.2L4.4 13v-2.4H2.5z',
  search: 'M7 12A5 5 0 107 2a5 5 0 000 10zM10.8 10.8L14 14',
  bell: 'M3.5 11.5h9L11.3 10V7a3.3 3.3 0 00-6.6 0v3zM6.8 13.5h2.4',
  back: 'M9.5 3.5L5 8l4.5 4.5',
  bad: 'M8 1.5l6.7 12H1.3zM8 6v3.6M8 11.4v.4',
  warn: 'M8 1.5l6.7 12H1.3zM8 6v3.6M8 11.4v.4',
  info: 'M8 14.5a6.5 6.5 0 100-13 6.5 6.5 0 000 13zM8 7.2v4M8 4.6v.4',
} as const

/** A line icon; its meaning stands in text beside it. */
export function icon(name: keyof typeof ICONS): SVGElement {
  return svg('svg', { viewBox: '0 0 16 16', class: 'icon', 'aria-hidden': 'true' }, svg('path', { d: ICONS[name] }))
}

/** Keeps a list's elements by key: focus, open details and transitions survive a change. */
export class KeyedList<T> {
  readonly #container: HTMLElement
  readonly #create: (item: T) => HTMLElement
  readonly #update: (element: HTMLElement, item: T) => void
  readonly #elements = new Map<string, HTMLElement>()

  constructor(
    container: HTMLElement,
    create: (item: T) => HTMLElement,
    update: (element: HTMLElement, item: T) => void,
  ) {
    this.#container = container
    this.#create = create
    this.#update = update
  }

  show(items: readonly T[], keyOf: (item: T) => string): void {
    const wanted = new Set(items.map(keyOf))
    for (const [key, element] of this.#elements) {
      if (wanted.has(key)) continue
      element.remove()
      this.#elements.delete(key)
    }
    let before = this.#container.firstElementChild
    for (const item of items) {
      const key = keyOf(item)
      let element = this.#elements.get(key)
      if (element === undefined) {
        element = this.#create(item)
        this.#elements.set(key, element)
      }
      this.#update(element, item)
      if (element === before) before = before.nextElementSibling
      else this.#container.insertBefore(element, before)
    }
  }
}

/** Says something to screen readers, without moving the focus. */
export function announce(text: string): void {
  byId('live').textContent = text
}

/** A button that shows a thing in the sheet. @param query - as the search field takes it; what names it: "block bafy…" */
export function lookButton(query: string, text: string, what: string, kind: string = 'mono'): HTMLButtonElement {
  return h(
    'button',
    { type: 'button', class: `look ${kind}`, 'data-look': query, 'aria-label': `${text}: show ${what}`, title: query },
    text,
  )
}

const COPIED_MS = 1500

/** A button that copies a text. @param what - names it: "address f1…" */
export function copyButton(text: string, what: string): HTMLButtonElement {
  const button = h(
    'button',
    { type: 'button', class: 'icon-button copy', 'aria-label': `Copy ${what}`, title: text },
    icon('copy'),
  )
  button.addEventListener('click', () => {
    void copyText(text).then((isDone) => {
      button.replaceChildren(icon(isDone ? 'check' : 'cross'))
      announce(isDone ? `Copied ${what}` : 'Copying is not allowed here')
      setTimeout(() => button.replaceChildren(icon('copy')), COPIED_MS)
    })
  })
  return button
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
