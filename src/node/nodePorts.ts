/** What a node needs of the runtime it runs in. */
import type { Clock, Logger, Random, Timers } from '../base/ports.ts'

export interface NodePorts {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Logger
}
