/** The choice of a node. */
import { hashOf, lightSources, serverUrl, type Target } from '../connect/target.ts'
import { byId } from './dom.ts'

/** Wires the dialog. @param target - the node that is asked now */
export function startConnectDialog(target: Target): void {
  const dialog = byId<HTMLDialogElement>('connect')
  const form = byId<HTMLFormElement>('connect-form')
  const field = (name: string): HTMLInputElement => form.elements.namedItem(name) as HTMLInputElement
  const showKind = (): void => {
    const kind = new FormData(form).get('kind')
    for (const row of form.querySelectorAll<HTMLElement>('[data-for]')) row.hidden = row.dataset.for !== kind
  }
  form.addEventListener('change', showKind)
  byId('link').addEventListener('click', () => {
    const kind = form.querySelector<HTMLInputElement>(`input[value="${target.kind}"]`)
    if (kind !== null) kind.checked = true
    if (target.kind === 'server') field('url').value = target.url
    if (target.kind === 'follow') field('peer').value = target.peer
    if (target.kind === 'light') {
      field('network').value = target.network
      field('from').value = [...target.sources, ...target.peers].join(' ')
    }
    showKind()
    dialog.showModal()
  })
  byId('connect-cancel').addEventListener('click', () => dialog.close())
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const next = chosenTarget(String(new FormData(form).get('kind')), (name) => field(name).value)
    if (typeof next === 'string') {
      byId('connect-error').textContent = next
      return
    }
    location.hash = hashOf(next)
    location.reload()
  })
}

function chosenTarget(kind: string, given: (name: string) => string): Target | string {
  if (kind === 'local') return { kind }
  if (kind === 'follow') {
    const peer = given('peer').trim()
    return peer === '' ? 'Which node shall the tab ask for its peers?' : { kind, peer }
  }
  if (kind === 'light') {
    const from = lightSources(given('from'))
    return from === undefined
      ? 'Sources are addresses of RPC endpoints (https://…) and of peers (/dns4/…).'
      : { kind, network: given('network').trim() || 'mainnet', ...from }
  }
  const server = serverUrl(given('url'))
  return server === undefined ? 'This is no address of a server.' : { kind: 'server', url: server }
}
