/** What the page brings to its model, and what it hears of it. */
import type { Connect } from './connection.ts'
import type { TextStorage } from './settings.ts'

/** Parts of the page that change on their own. */
export type Part = 'link' | 'head' | 'epochs' | 'pool' | 'watch' | 'messages' | 'peers' | 'light' | 'fees' | 'attention'

/** What the page brings. */
export interface MonitorDeps {
  readonly connect: Connect
  readonly storage: TextStorage
  readonly nowMs: () => number
  readonly setTimer: (run: () => void, ms: number) => () => void
  readonly changed: (part: Part) => void
}
