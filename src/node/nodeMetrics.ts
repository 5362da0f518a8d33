/** The figures of a node, under Lotus' names where it has them. @see lotus metrics/metrics.go; chain/metrics */

import { unlessThrown } from '../base/errors.ts'
import type { Metrics } from '../base/metrics.ts'
import type { ChainView } from '../chain/chainView.ts'
import { readReceipts } from '../chain/receipts.ts'
import type { ExecutionTimes } from '../execution/executionTimes.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { MessagePool } from '../mempool/messagePool.ts'
import type { NetService } from '../p2p/host/netService.ts'
import type { AllCounts, CallCounts } from '../rpc/callCounts.ts'
import type { SyncState } from '../sync/syncState.ts'
import { SYNC_STAGE } from '../sync/syncState.ts'
import { firstBlock } from '../types/tipset.ts'
import type { Health, HealthCheck } from './health.ts'

/** What is read, and what is listened to. */
export interface NodeMetricsDeps {
  readonly view: ChainView
  readonly health: Health
  readonly executions: ExecutionTimes | undefined
  readonly pool: MessagePool
  readonly net: NetService | undefined
  readonly sync: () => SyncState
  readonly counts: AllCounts
  readonly version: string
}

/** Hears of each call that was answered. */
export type CallListener = (method: string, ms: number, failed: boolean) => void
/** Hears of blocks that failed a check. */
export type BadBlockListener = (check: string) => void

const LATENCY_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000]
const EXECUTION_MS = [10, 25, 50, 100, 250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 60_000]
const MS_PER_SEC = 1000

/** Registers everything. @returns what ends the subscriptions */
export function registerNodeMetrics(
  metrics: Metrics,
  deps: NodeMetricsDeps,
): { readonly called: CallListener; readonly badBlock: BadBlockListener; readonly stop: () => void } {
  const { view, health, executions, pool, net, sync, counts, version } = deps
  const { store, network } = view
  metrics.gauge('lotus_info', 'What runs here.', () => [
    { labels: { version, network: network.name, client: 'petrel' }, value: 1 },
  ])
  metrics.gauge('lotus_chain_node_height', 'Epoch of the head.', () => store.head().height)
  metrics.gauge(
    'lotus_chain_node_height_expected',
    'Epoch that the clock says.',
    () => store.head().height + health.epochsBehind(),
  )
  metrics.gauge('lotus_chain_basefee', 'Base fee of the next tipset, attoFIL.', () =>
    Number(view.baseFee(store.head())),
  )
  metrics.gauge('petrel_head_lag_epochs', 'Epochs from the head to the clock.', () => health.epochsBehind())
  metrics.gauge('petrel_head_timestamp_seconds', 'Unix time of the head.', () => firstBlock(store.head()).timestamp)
  metrics.gauge('petrel_head_blocks', 'Blocks in the head.', () => store.head().blocks.length)
  metrics.gauge('petrel_ready', '1 where /health/readyz says so.', () => (isGood(health.ready()) ? 1 : 0))
  metrics.gauge('lotus_mpool_message_count', 'Messages that wait.', () => pool.size)
  metrics.gauge('petrel_mpool_messages', 'Messages that wait, by whose they are.', () => poolSamples(pool))
  metrics.gauge(
    'petrel_mpool_local_wait_epochs',
    'Epochs that the oldest message of this node has waited.',
    () => pool.localWaitEpochs,
  )
  metrics.gauge('petrel_sync_workers', 'Syncs under way.', () => syncing(sync()))
  metrics.total('petrel_messages_applied_total', 'Messages that were applied since the start.', () => sync().vmApplied)
  registerNet(metrics, net)
  let tipsets = 0
  let reorganisations = 0
  let revertedTipsets = 0
  const stop = store.onHeadChange((reverted, applied) => {
    tipsets += applied.length
    const head = applied.at(-1)
    if (reverted.length > 1 || (reverted.length === 1 && reverted[0]?.height !== head?.height)) {
      reorganisations++
      revertedTipsets += reverted.length
    }
  })
  metrics.total('petrel_tipsets_applied_total', 'Tipsets that became part of the chain since the start.', () => tipsets)
  metrics.total('petrel_reorganisations_total', 'Times that the head moved to another branch.', () => reorganisations)
  metrics.total('petrel_tipsets_reverted_total', 'Tipsets that were taken back.', () => revertedTipsets)
  if (executions !== undefined) registerExecutions(metrics, view, executions)
  const badBlocks = metrics.counter('lotus_block_failure', 'Blocks that failed, by what was wrong.', 'failure_type')
  const duration = metrics.histogram(
    'lotus_api_request_duration_ms',
    'Time that calls took, ms.',
    'endpoint',
    LATENCY_MS,
  )
  const failures = metrics.counter('petrel_rpc_failures_total', 'Calls that failed.', 'endpoint')
  registerCounts(metrics, counts)
  return {
    called: (method, ms, failed) => {
      duration.observe(ms, method)
      if (failed) failures.add(1, method)
    },
    badBlock: (check) => badBlocks.add(1, check),
    stop,
  }
}

function registerExecutions(metrics: Metrics, view: ChainView, executions: ExecutionTimes): void {
  const time = metrics.histogram(
    'lotus_vm_applyblocks_total_ms',
    'Time that executing a tipset took, ms.',
    'kind',
    EXECUTION_MS,
  )
  let gas = 0
  let ms = 0
  executions.listen((_tipset, { receiptsRoot }, took) => {
    time.observe(took, 'tipset')
    ms += took
    // Receipts that the store does not have: the time counts all the same.
    const receipts = unlessThrown(() => readReceipts(view.store.blocks, receiptsRoot), BlockMissing)
    for (const { gasUsed } of receipts ?? []) gas += Number(gasUsed)
  })
  metrics.total('petrel_gas_executed_total', 'Gas of the messages that were executed.', () => gas)
  metrics.total('petrel_execution_seconds_total', 'Time that executing took, seconds.', () => ms / MS_PER_SEC)
}

/** Those of threads that answer reads are among them where they count together. */
function registerCounts(metrics: Metrics, counts: AllCounts): void {
  const all = Object.entries(counts) as [keyof AllCounts, CallCounts][]
  metrics.gauge('petrel_rpc_calls', 'Calls that run and that wait for a place, by what they cost.', () =>
    all.flatMap(([cost, { running, waiting }]) => [
      { labels: { cost, state: 'running' }, value: running.total() },
      { labels: { cost, state: 'waiting' }, value: waiting.total() },
    ]),
  )
  metrics.total('petrel_rpc_refused_total', 'Calls refused for being one too many, by what they cost.', () =>
    all.map(([cost, { refused }]) => ({ labels: { cost }, value: refused.total() })),
  )
}

function registerNet(metrics: Metrics, net: NetService | undefined): void {
  metrics.gauge(
    'lotus_peer_count',
    'Peers that are connected.',
    () => new Set(net?.connections().map(({ peer }) => peer)).size,
  )
  metrics.total('petrel_net_bytes_total', 'Bytes of streams, by protocol and direction.', () =>
    [...(net?.trafficByProtocol() ?? [])].flatMap(([protocol, { totalIn, totalOut }]) => [
      { labels: { protocol, direction: 'in' }, value: totalIn },
      { labels: { protocol, direction: 'out' }, value: totalOut },
    ]),
  )
}

function isGood(checks: readonly HealthCheck[]): boolean {
  return checks.every(({ ok }) => ok)
}

function poolSamples(pool: MessagePool): { labels: Record<string, string>; value: number }[] {
  const own = pool.localSize
  return [
    { labels: { sender: 'local' }, value: own },
    { labels: { sender: 'remote' }, value: pool.size - own },
  ]
}

function syncing({ activeSyncs }: SyncState): number {
  const ended: readonly number[] = [SYNC_STAGE.idle, SYNC_STAGE.complete, SYNC_STAGE.error]
  return activeSyncs.filter(({ stage }) => !ended.includes(stage)).length
}
