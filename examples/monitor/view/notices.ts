/** The notice above all else: what makes everything below it doubtful. And the state of the connection. */
import type { Monitor } from '../model/monitor.ts'
import { noticeOf } from '../model/notice.ts'
import { byId, h, replaceWhen, setText } from './dom.ts'

/** Shows it, and the state of the connection. */
export function showNotices(monitor: Monitor): void {
  const found = noticeOf(monitor)
  // An old head is a thing to look at among others.
  const notice = found?.kind === 'stale' || found?.kind === 'ahead' ? undefined : found
  const box = byId('notice')
  box.hidden = notice === undefined
  box.dataset.kind = notice?.kind ?? ''
  replaceWhen(box, notice === undefined ? '' : `${notice.kind} ${notice.text}`, () => {
    if (notice === undefined) return []
    const quiet = (text: string, onclick: () => void): HTMLElement =>
      h('button', { type: 'button', class: 'quiet', onclick }, text)
    return [
      h('span', {}, notice.text),
      notice.kind === 'offline' ? quiet('Try now', () => monitor.retry()) : undefined,
      notice.kind === 'other' ? quiet('Understood', () => monitor.acknowledgeChain()) : undefined,
    ]
  })
  document.body.classList.toggle('is-doubtful', found !== undefined && found.kind !== 'ahead')
  document.body.classList.toggle('is-offline', monitor.link.at === 'offline')
  const button = byId('link')
  const { link, info } = monitor
  const state = found === undefined ? link.at : found.kind
  button.dataset.state = state
  const network = info?.network ?? ''
  const name = network === '' ? link.at : network
  setText(button.querySelector('.link-text') as HTMLElement, name)
  button.setAttribute('aria-label', `Node: ${name}${state === 'live' || state === name ? '' : `, ${state}`}. Change`)
}
