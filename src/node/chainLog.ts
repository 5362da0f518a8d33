/** What a node tells its operator: a line per tipset, per reorganisation, how far a long sync is, peers that are lost. */

import { errorMessage, unlessThrown } from '../base/errors.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import type { ChainView } from '../chain/chainView.ts'
import { readReceipts } from '../chain/receipts.ts'
import type { ExecutionTimes } from '../execution/executionTimes.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { SYNC_STAGE, type SyncState } from '../sync/syncState.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'
import { clockText, type Health } from './health.ts'
import { logPeers } from './peerLog.ts'

/** What {@link logChain} listens to. */
export interface ChainLogDeps {
  readonly view: ChainView
  readonly health: Health
  readonly sync: () => SyncState
  readonly executions: ExecutionTimes | undefined
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** How many peers are connected; undefined: it has none to lose. */
  readonly peers: (() => number) | undefined
  readonly peerLog: Logger
}

/** Epochs behind the clock beyond which progress is told instead of tipsets. */
const CATCHING_UP = 20
/** Between two lines of tipsets: chains that are made on demand may have hundreds in a second. */
const LINE_MS = 200
const PROGRESS_MS = 10_000
/** Names of the stages as they are told. */
const STAGE_TEXT = new Map<number, string>([
  [SYNC_STAGE.headers, 'headers'],
  [SYNC_STAGE.persistHeaders, 'headers'],
  [SYNC_STAGE.messages, 'checks and executions'],
  [SYNC_STAGE.fetchingMessages, 'messages'],
])
const MS_PER_SEC = 1000

/** Gas that a tipset's messages used; undefined where that is not at hand. */
function gasOfParent(view: ChainView, tipset: Tipset): bigint | undefined {
  const { parentMessageReceipts } = firstBlock(tipset)
  const receipts = unlessThrown(() => readReceipts(view.store.blocks, parentMessageReceipts), BlockMissing)
  return receipts?.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
}

/** @returns what ends it */
export function logChain(deps: ChainLogDeps): () => void {
  const { view, log, timers } = deps
  const { store } = view
  let toldMs = Number.NEGATIVE_INFINITY
  let untold = 0
  const unsubscribe = store.onHeadChange((reverted, applied) => {
    const head = applied.at(-1) ?? store.head()
    const from = reverted[0]
    if (from !== undefined && (reverted.length > 1 || from.height !== head.height)) {
      log.warn('reorganisation', {
        ...{ depth: reverted.length, applied: applied.length, fromHeight: from.height, toHeight: head.height },
        ...{ from: from.key.map(String), to: head.key.map(String) },
      })
    }
    const now = deps.clock.monotonicMs()
    if (deps.health.epochsBehind() > CATCHING_UP || now - toldMs < LINE_MS) {
      untold++
      return
    }
    log.info('head', { ...headLine(deps, head), ...(untold > 0 ? { since: untold } : {}) })
    toldMs = now
    untold = 0
  })
  const progress = new Progress(deps)
  const tellClock = clockTeller(deps)
  let cancel: () => void = () => undefined
  const again = (): void => {
    cancel = timers.setTimeout(() => {
      progress.tell()
      tellClock()
      again()
    }, PROGRESS_MS)
  }
  again()
  const { peers, peerLog } = deps
  const endPeerLog = peers === undefined ? () => undefined : logPeers({ peers, timers, log: peerLog })
  return () => {
    unsubscribe()
    cancel()
    endPeerLog()
  }
}

/** Says when the clock is set, and when it is back: what a node refuses or holds late depends on it. */
function clockTeller({ health, log }: ChainLogDeps): () => void {
  let isSet = false
  return () => {
    const ms = health.clockSetMs()
    if (ms !== 0 && !isSet) log.warn(clockText(ms))
    else if (ms === 0 && isSet) log.info('the clock is again as it was at the start')
    isSet = ms !== 0
  }
}

function headLine({ view, clock, executions, log }: ChainLogDeps, head: Tipset): Record<string, unknown> {
  const { timestamp, parents } = firstBlock(head)
  const line: Record<string, unknown> = { height: head.height, blocks: head.blocks.length }
  try {
    line.messages = view.tipsetMessages(head).length
  } catch (error) {
    log.debug('messages of the head not at hand', { reason: errorMessage(error) })
  }
  const parentGas = gasOfParent(view, head)
  if (parentGas !== undefined) line.parentGas = parentGas
  const ms = executions?.of(parents)
  if (ms !== undefined) line.executionMs = Math.round(ms)
  line.lagSeconds = Math.round((clock.nowMs() - timestamp * MS_PER_SEC) / 100) / 10
  return line
}

/** Lines of a sync that takes long. */
class Progress {
  readonly #deps: ChainLogDeps
  #before: { readonly worker: number; readonly stage: string; readonly height: number; readonly ms: number } | undefined

  constructor(deps: ChainLogDeps) {
    this.#deps = deps
  }

  tell(): void {
    const { sync, log, clock } = this.#deps
    const run = sync().activeSyncs.find(({ stage, target }) => STAGE_TEXT.has(stage) && target !== null)
    if (run?.target === undefined || run.target === null) {
      this.#before = undefined
      return
    }
    const { workerId: worker, height, target, base } = run
    const stage = STAGE_TEXT.get(run.stage) as string
    const ms = clock.monotonicMs()
    const before = this.#before
    this.#before = { worker, stage, height, ms }
    if (before?.worker !== worker || before.stage !== stage || height === 0) return
    const rate = Math.abs(height - before.height) / ((ms - before.ms) / MS_PER_SEC)
    // Headers are collected downwards, from the target to what is known.
    const left = stage === 'headers' ? height - (base?.height ?? 0) : target.height - height
    log.info('syncing', {
      ...{ stage, height, target: target.height, epochsLeft: left, epochsPerSecond: Math.round(rate * 10) / 10 },
      ...(rate > 0 ? { secondsLeft: Math.ceil(left / rate) } : {}),
    })
  }
}
