/** Light and dark: what the system says, unless the reader chose. */
import { byId, icon } from './dom.ts'

const KEY = 'petrel.monitor.theme'

/** Wires the button. */
export function startTheme(): void {
  const button = byId<HTMLButtonElement>('theme')
  const system = matchMedia('(prefers-color-scheme: dark)')
  let chosen = stored()
  const show = (): void => {
    const isDark = chosen === undefined ? system.matches : chosen === 'dark'
    if (chosen === undefined) delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = chosen
    button.setAttribute('aria-pressed', String(isDark))
    button.replaceChildren(icon(isDark ? 'sun' : 'moon'))
  }
  button.addEventListener('click', () => {
    chosen = button.getAttribute('aria-pressed') === 'true' ? 'light' : 'dark'
    try {
      localStorage.setItem(KEY, chosen)
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    show()
  })
  system.addEventListener('change', show)
  show()
}

function stored(): 'light' | 'dark' | undefined {
  try {
    const value = localStorage.getItem(KEY)
    return value === 'light' || value === 'dark' ? value : undefined
  } catch {
    return undefined
  }
}
