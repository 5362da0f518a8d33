/** What the reader must know before believing the rest: not connected, stale, contradicted. */
import { formatAge } from './format.ts'
import type { Monitor } from './monitor.ts'

export interface Notice {
  readonly kind: 'offline' | 'stale' | 'fault' | 'ahead'
  readonly text: string
}

/** The most serious one; undefined: all is well. */
export function noticeOf({ link, fault, freshness, head, info, light }: Monitor): Notice | undefined {
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
