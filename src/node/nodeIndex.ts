/** A database that a node writes its chain into, as the node sees it. */
import type { ChainView } from '../chain/chainView.ts'
import type { VmHost } from '../chain/vm.ts'
import type { Finality } from '../consensus/finality.ts'
import type { HealthCheck } from './health.ts'

/** What it reads. */
export interface NodeIndexDeps {
  readonly view: ChainView
  readonly vm: VmHost
}

/** See the file's comment. */
export interface NodeIndex {
  /** Says how it is; a database that does not answer does not keep the node from being relied on. */
  health(): HealthCheck
  /** Follows the head from now on. */
  start(finality: Pick<Finality, 'finalized'>): void
  /** Resolves when a transaction under way has ended. */
  stop(): Promise<void>
}
