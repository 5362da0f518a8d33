/** Writers of a chain's index. */
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import type { Logger, Timers } from '../../src/base/ports.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { IndexWriter } from '../../src/index/indexWriter.ts'
import { silentLog } from '../support/recordedView.ts'

export const timers: Timers = {
  setTimeout: (run, ms) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

/** What a test's writer reads. */
export interface Indexed {
  readonly view: ChainView
  readonly vm: VmHost
}

/** A writer that begins at genesis; its finality is what the test says. */
export function writerOf({ view, vm }: Indexed, url: string, log: Logger = silentLog): IndexWriter {
  return new IndexWriter({ view, vm, store: new PostgresIndex(url, timers), timers, log, from: 0, longestPauseMs: 40 })
}

/** Finality that stays at genesis. */
export function neverFinal({ view }: Indexed): { finalized: () => ReturnType<typeof view.store.genesis> } {
  return { finalized: () => view.store.genesis() }
}
