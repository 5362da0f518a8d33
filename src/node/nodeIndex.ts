import type { ChainView } from '../chain/chainView.ts'
import type { VmHost } from '../chain/vm.ts'
import { HeadIndex } from '../index/headIndex.ts'
import type { IndexReader } from '../index/indexReader.ts'
import type { IndexFinality } from '../index/indexWriter.ts'
import type { HealthCheck } from './health.ts'
import type { NodePorts } from './nodePorts.ts'

/** What it reads. */
export interface NodeIndexDeps {
  readonly view: ChainView
  readonly vm: VmHost
}

/** A database that a node writes its chain into, as the node sees it. */
export interface NodeIndex {
  /** Asked for what the node's store does not have any more. */
  readonly reader: IndexReader
  /** All that the node knows it has from there and from others: the index is asked first. */
  readonly isFirst: boolean
  /** Says how it is; a database that does not answer does not keep the node from being relied on. */
  health(): HealthCheck
  /** Follows the head from now on. */
  start(finality: IndexFinality): void
  /** Resolves when a transaction under way has ended. */
  stop(): Promise<void>
}

/** An index as methods ask it; undefined: there is none. */
export function askedIndex(
  view: ChainView,
  index: NodeIndex | undefined,
  { clock, timers }: Pick<NodePorts, 'clock' | 'timers'>,
): HeadIndex | undefined {
  if (index === undefined) return undefined
  const { reader, isFirst } = index
  return new HeadIndex({ view, reader, isFirst, clock, timers })
}
