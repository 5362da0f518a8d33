/** The one word that stands before all else: whether the shown chain is where the network is. */
import type { Monitor } from './monitor.ts'

export interface Status {
  readonly kind: 'good' | 'wait' | 'warn' | 'bad'
  readonly word: string
  /** What it means, for who asks. */
  readonly meaning: string
}

/** What the status is made from. */
export type StatusView = Pick<Monitor, 'link' | 'fault' | 'freshness' | 'head' | 'news'>

export function statusOf({ link, fault, freshness, head, news }: StatusView): Status {
  const { light, syncStep } = news
  if (link.at === 'offline') return { kind: 'bad', word: 'Offline', meaning: 'No connection to the node.' }
  if (link.at === 'connecting') return { kind: 'wait', word: 'Connecting', meaning: 'The node is being asked.' }
  if (fault !== undefined) return { kind: 'bad', word: 'Fault', meaning: 'What the node gives does not fit together.' }
  if (light !== undefined && light.trouble !== '') {
    return { kind: 'bad', word: 'Unproven', meaning: 'Nothing newer can be proven.' }
  }
  if (head === undefined) {
    const word = syncStep === undefined ? 'Waiting' : 'Syncing'
    return { kind: 'wait', word, meaning: 'No tipset has come yet.' }
  }
  if (freshness?.at === 'stale') {
    const kind = syncStep === undefined ? 'warn' : 'wait'
    return { kind, word: `Behind ${freshness.epochs}`, meaning: `The newest tipset is ${freshness.epochs} epochs old.` }
  }
  if (freshness?.at === 'ahead') {
    return { kind: 'warn', word: `Ahead ${freshness.epochs}`, meaning: 'The newest tipset is in the future.' }
  }
  return { kind: 'good', word: 'In sync', meaning: 'The newest tipset is as new as the clock says.' }
}
