/** The notice above all else, and the state of the connection. */
import type { Monitor } from '../model/monitor.ts'
import { noticeOf } from '../model/notice.ts'
import { byId, h, replaceWhen, setText } from './dom.ts'

/** Shows it, and the state of the connection. */
export function showNotices(monitor: Monitor): void {
  const notice = noticeOf(monitor)
  const box = byId('notice')
  box.hidden = notice === undefined
  box.dataset.kind = notice?.kind ?? ''
  replaceWhen(box, notice === undefined ? '' : `${notice.kind} ${notice.text}`, () =>
    notice === undefined
      ? []
      : [
          notice.text,
          notice.kind === 'offline'
            ? h('button', { type: 'button', class: 'quiet', onclick: () => monitor.retry() }, 'Try now')
            : undefined,
        ],
  )
  document.body.classList.toggle('is-doubtful', notice !== undefined && notice.kind !== 'ahead')
  const button = byId('link')
  const { link, info } = monitor
  const state = notice === undefined ? link.at : notice.kind
  button.dataset.state = state
  const name = info?.network ?? ''
  const text = state === 'live' ? name : state === 'connecting' ? 'connecting' : state === 'ahead' ? name : state
  setText(button.querySelector('.link-text') as HTMLElement, text)
  button.setAttribute('aria-label', `Node: ${state === 'live' ? `connected to ${name}` : state}. Change`)
}
