/** How far a node is with what it fetches, in numbers. */
import { type ActiveSync, SYNC_STAGE, type SyncState } from 'petrel'

/** Steps in their order. */
export const SYNC_STEPS = ['headers', 'messages', 'complete'] as const

/** The sync that is under way. */
export interface SyncStep {
  readonly step: (typeof SYNC_STEPS)[number]
  /** Epoch that it has come to, and the one that it goes to. */
  readonly height: number
  readonly target: number
  /** Of this step, 0 to 1. */
  readonly share: number
}

function stepOf(stage: number): SyncStep['step'] | undefined {
  if (stage === SYNC_STAGE.headers || stage === SYNC_STAGE.persistHeaders) return 'headers'
  if (stage === SYNC_STAGE.messages || stage === SYNC_STAGE.fetchingMessages) return 'messages'
  return undefined
}

/** The one with the highest target; undefined: none is under way. */
export function syncStepOf({ activeSyncs }: SyncState): SyncStep | undefined {
  let best: { readonly step: SyncStep['step']; readonly sync: ActiveSync; readonly target: number } | undefined
  for (const sync of activeSyncs) {
    const step = stepOf(sync.stage)
    const target = sync.target?.height
    if (step === undefined || target === undefined || (best !== undefined && best.target >= target)) continue
    best = { step, sync, target }
  }
  if (best === undefined) return undefined
  const { step, sync, target } = best
  const base = sync.base?.height ?? 0
  const whole = Math.max(1, target - base)
  // Headers are fetched from the target down, messages from the base up. Lotus and Petrel tell 0 before the first.
  const done = sync.height === 0 ? 0 : step === 'headers' ? target - sync.height : sync.height - base
  return { step, height: sync.height, target, share: Math.min(1, Math.max(0, done / whole)) }
}
