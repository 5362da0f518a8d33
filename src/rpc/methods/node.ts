/** Methods about how the node is and what it keeps: status, log, backup, index. */
import { LOG_PARTS } from '../../base/partedLog.ts'
import { type Clock, LOG_EVENT_LEVELS, type LogEventLevel, type LogParts } from '../../base/ports.ts'
import type { Steps } from '../../base/steps.ts'
import type { ChainView } from '../../chain/chainView.ts'
import type { VmHost } from '../../chain/vm.ts'
import { executedTipset } from '../../eth/executedTipset.ts'
import { THRESHOLDS } from '../../p2p/gossip/scores.ts'
import type { PeerName } from '../../p2p/peerLinks.ts'
import { firstBlock } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { channelMethod, type MethodRow, method } from '../method.ts'
import {
  chainValidateIndex,
  closing,
  createBackup,
  logAlerts,
  logList,
  logSetLevel,
  nodeStatus,
} from '../signatures/node.ts'
import type { NodeStatus } from '../types/node.ts'

/** What the methods need. */
export interface NodeMethodsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'tipsetState'>
  readonly clock: Clock
  /** Peers in the topics, and what gossip thinks of each; empty where the node follows nobody. */
  readonly gossip: () => {
    readonly messages: readonly PeerName[]
    readonly blocks: readonly PeerName[]
    readonly scores: readonly { readonly id: PeerName; readonly score: number }[]
  }
  /** undefined: the log has one level that cannot be changed. */
  readonly logs: LogParts | undefined
  /** Writes a backup of what the node keeps besides the chain; undefined: not in this runtime. */
  readonly backup?: ((path: string) => Promise<void>) | undefined
}

const MS_PER_SEC = 1000
/** Lotus counts epochs of a public network, whatever the network's own delay. */
const STATUS_EPOCH_SECS = 30
const RECENT = 100

/** Rows about the node. */
export function nodeMethods(deps: NodeMethodsDeps): MethodRow[] {
  return [...statusMethods(deps), ...logMethods(deps), ...keepingMethods(deps)]
}

function statusMethods(deps: NodeMethodsDeps): MethodRow[] {
  return [
    method({
      ...nodeStatus,
      handler: async (withChain, { walk }): Promise<NodeStatus> => ({
        syncStatus: syncStatus(deps),
        peerStatus: peerStatus(deps),
        chainStatus: withChain ? await walk(chainStatus(deps.view)) : NO_CHAIN_STATUS,
      }),
    }),
    channelMethod({
      ...closing,
      subscribe: () => () => undefined,
    }),
  ]
}

function syncStatus({ view, clock }: NodeMethodsDeps): NodeStatus['syncStatus'] {
  const head = view.store.head()
  const seconds = clock.nowMs() / MS_PER_SEC - firstBlock(head).timestamp
  return { epoch: head.height, behind: Math.max(0, Math.floor(seconds / STATUS_EPOCH_SECS)) }
}

function peerStatus({ gossip }: NodeMethodsDeps): NodeStatus['peerStatus'] {
  const { messages, blocks, scores } = gossip()
  const good = scores.filter(({ score }) => score > THRESHOLDS.publishThreshold).map(({ id }) => id)
  return {
    peersToPublishMsgs: good.filter((id) => messages.includes(id)).length,
    peersToPublishBlocks: good.filter((id) => blocks.includes(id)).length,
  }
}

const NO_CHAIN_STATUS = { blocksPerTipsetLast100: 0, blocksPerTipsetLastFinality: 0 }

/** Zero while the chain is shorter than finality. */
function* chainStatus({ store, network }: ChainView): Steps<NodeStatus['chainStatus']> {
  const { chainFinality } = network.protocol
  let tipset = store.head()
  if (tipset.height <= chainFinality) return NO_CHAIN_STATUS
  let blocks = 0
  let recent = 0
  for (let i = 0; i < chainFinality; i++) {
    if (i === RECENT) recent = blocks
    blocks += tipset.blocks.length
    tipset = store.parent(tipset)
    yield
  }
  return { blocksPerTipsetLast100: recent / RECENT, blocksPerTipsetLastFinality: blocks / chainFinality }
}

/** Levels that go-log knows beyond ours stop all but what ends the process. */
const SILENT_LEVELS = ['dpanic', 'panic', 'fatal']

function levelOf(name: string): LogEventLevel | 'silent' {
  const lower = name === '' ? 'info' : name.toLowerCase()
  const known = LOG_EVENT_LEVELS.find((level) => level === lower)
  if (known !== undefined) return known
  if (SILENT_LEVELS.includes(lower)) return 'silent'
  throw new RpcError('FAILED', `unrecognized level: ${JSON.stringify(name)}`)
}

function logMethods({ logs }: NodeMethodsDeps): MethodRow[] {
  return [
    method({
      ...logList,
      handler: () => logs?.names() ?? [],
    }),
    method({
      ...logSetLevel,
      handler: (part, level) => {
        const threshold = levelOf(level)
        if (logs === undefined) throw new RpcError('FAILED', 'not supported: this log has one level')
        // @see go-log v2 setup.go SetLogLevel, ErrNoSuchLogger
        if (part !== '*' && !(LOG_PARTS as readonly string[]).includes(part)) {
          throw new RpcError('FAILED', 'error: No such logger')
        }
        logs.setLevel(part, threshold)
      },
    }),
    method({
      ...logAlerts,
      handler: () => [],
    }),
  ]
}

function keepingMethods({ view, vm, backup }: NodeMethodsDeps): MethodRow[] {
  return [
    method({
      ...createBackup,
      handler: (path) => {
        if (backup === undefined) throw new RpcError('FAILED', 'not supported: backups in this runtime')
        return backup(path)
      },
    }),
    method({
      ...chainValidateIndex,
      handler: async (epoch, _backfill, call) => {
        const head = view.store.head()
        if (epoch >= head.height) {
          const text = `cannot validate index at epoch ${epoch}, can only validate at an epoch less than chain head epoch ${head.height}`
          throw new RpcError('FAILED', text)
        }
        const tipset = await call.walk(view.store.findByHeight(epoch, head, 'previous'))
        const counts = { messages: 0, events: 0, entries: 0, backfilled: false }
        if (tipset.height !== epoch) return { tipsetKey: [], height: epoch, ...counts, isNullRound: true }
        const { messages } = await executedTipset(view, vm, tipset, call)
        const events = messages.flatMap((message) => message.events)
        return {
          ...counts,
          tipsetKey: tipset.key,
          height: epoch,
          messages: messages.length,
          events: events.length,
          entries: events.reduce((sum, { entries }) => sum + entries.length, 0),
          isNullRound: false,
        }
      },
    }),
  ]
}
