/** What the reader must know before believing the rest: not connected, contradicted, stale, another chain. */
import { formatAge } from './format.ts'
import type { Monitor } from './monitor.ts'

export interface Notice {
  readonly kind: 'offline' | 'stale' | 'fault' | 'ahead' | 'other'
  readonly text: string
}

/** What the notice is made from. */
export type NoticeView = Pick<Monitor, 'link' | 'fault' | 'freshness' | 'head' | 'info' | 'news' | 'otherChain'>

/** The most serious one; undefined: all is well. */
export function noticeOf({ link, fault, freshness, head, info, news, otherChain }: NoticeView): Notice | undefined {
  const { light } = news
  if (link.at === 'offline') {
    const rest = head === undefined ? '' : ' What is shown is from before.'
    return { kind: 'offline', text: `Not connected: ${link.reason}. Trying again.${rest}` }
  }
  if (fault !== undefined) {
    const what =
      fault.kind === 'contradiction' ? 'The node contradicts itself' : 'The node withholds a part of its chain'
    return { kind: 'fault', text: `${what}: ${fault.text}. What is shown is from before.` }
  }
  if (light !== undefined && light.trouble !== '') {
    return { kind: 'fault', text: `Nothing newer can be proven: ${light.trouble}. What is shown as proven stays so.` }
  }
  if (otherChain !== undefined) {
    const text = `This is another chain than before: ${otherChain.now}, not ${otherChain.before}. Nothing of the old one is shown any more.`
    return { kind: 'other', text }
  }
  if (freshness?.at === 'stale') {
    const age = formatAge(freshness.epochs * (info?.blockDelay ?? 1))
    return {
      kind: 'stale',
      text: `Stale: the newest tipset is ${freshness.epochs} epochs (${age}) behind this machine’s clock. The node is behind, blocks are withheld from it, or the chain stands still.`,
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
