/** What the reader must know before believing the rest: not connected, stale, contradicted, never heard of. */
import { formatAge } from '../model/format.ts'
import type { Monitor } from '../model/monitor.ts'
import { byId, h, replaceWhen, setText } from './dom.ts'

interface Notice {
  readonly kind: 'offline' | 'stale' | 'fault' | 'ahead'
  readonly text: string
}

/** The most serious one; undefined: all is well. */
export function noticeOf(monitor: Monitor): Notice | undefined {
  const { link, fault, freshness, head } = monitor
  if (fault !== undefined) {
    const what =
      fault.kind === 'contradiction' ? 'The node contradicts itself' : 'The node withholds a part of its chain'
    return { kind: 'fault', text: `${what}: ${fault.text}. What is shown is from before.` }
  }
  if (link.at === 'offline') {
    const rest = head === undefined ? '' : ' What is shown is from before.'
    return { kind: 'offline', text: `Not connected: ${link.reason}. Trying again.${rest}` }
  }
  if (freshness?.at === 'stale') {
    const age = formatAge(freshness.epochs * (monitor.info?.blockDelay ?? 1))
    return {
      kind: 'stale',
      text: `Stale: the newest tipset is ${freshness.epochs} epochs (${age}) behind this machine’s clock. The node is behind, its blocks are withheld, or the chain stands still.`,
    }
  }
  if (freshness?.at === 'ahead') {
    return {
      kind: 'ahead',
      text: `The newest tipset is ${freshness.epochs} epochs in the future: this machine’s clock or the chain’s is wrong.`,
    }
  }
  return undefined
}

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
