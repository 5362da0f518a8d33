import type { Clock, Logger, Random, Timers } from '../base/ports.ts'

/** What a node needs of the runtime it runs in. */
export interface NodePorts {
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Logger
}
