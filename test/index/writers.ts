/** Writers of a chain's index. */
import { systemClock } from '../../platform/server/clock.ts'
import { PostgresIndex } from '../../platform/server/index/postgresIndex.ts'
import type { Clock, Logger, Timers } from '../../src/base/ports.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { type IndexFinality, IndexWriter } from '../../src/index/indexWriter.ts'
import type { Tipset } from '../../src/types/tipset.ts'
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

/** A writer that begins at genesis, or as it is told; its finality is what the test says. */
export function writerOf(
  { view, vm }: Indexed,
  url: string,
  log: Logger = silentLog,
  { from, ...clock }: { readonly from: number | undefined } & Partial<Clock> = { from: 0 },
): IndexWriter {
  const store = new PostgresIndex(url, timers)
  return new IndexWriter({
    view,
    vm,
    store,
    clock: { ...systemClock, ...clock },
    timers,
    log,
    from,
    longestPauseMs: 40,
  })
}

/** Finality that stays at genesis. */
export function neverFinal({ view }: Indexed): IndexFinality {
  return finalAt(() => view.store.genesis())
}

/** Finality as a test says. */
export function finalAt(finalized: () => Tipset): IndexFinality {
  return { finalized, onCertificate: () => () => undefined }
}
