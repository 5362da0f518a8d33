/** The index of a process: its writer, its line in the health, its figures. Loaded when it is wanted. */
import type { Metrics } from '../../../src/base/metrics.ts'
import { logOf } from '../../../src/base/partedLog.ts'
import { IndexError } from '../../../src/index/errors.ts'
import type { IndexedChain } from '../../../src/index/indexStore.ts'
import { type IndexStatus, IndexWriter } from '../../../src/index/indexWriter.ts'
import type { NodeIndex, NodeIndexDeps } from '../../../src/node/nodeIndex.ts'
import type { NodePorts } from '../../../src/node/nodePorts.ts'
import type { NodeShim } from '../../../src/node/nodeShim.ts'
import type { IndexOptions } from '../options.ts'
import { PostgresIndex } from './postgresIndex.ts'
import { PostgresReader } from './postgresReader.ts'

/** @throws IndexError for a database that is not for this chain; one that does not answer is waited for later */
export async function assertIndex(
  { url }: IndexOptions,
  chain: IndexedChain,
  { timers }: Pick<NodePorts, 'timers'>,
): Promise<void> {
  try {
    await new PostgresIndex(url, timers).check(chain)
  } catch (error) {
    if (!(error instanceof IndexError) || error.code !== 'CONNECTION_LOST') throw error
  }
}

/** What a node with an index is opened with. */
export function indexShim(
  options: IndexOptions,
  ports: NodePorts,
  metrics: Metrics | undefined,
): Required<Pick<NodeShim, 'assertIndex' | 'openIndex'>> {
  return {
    assertIndex: (chain) => assertIndex(options, chain, ports),
    openIndex: (deps) => openIndex(options, deps, { ...ports, log: logOf(ports.log, 'index') }, metrics),
  }
}

/** @throws IndexError for a database that is not for this chain; nothing has been written then */
async function openIndex(
  { url, from }: IndexOptions,
  deps: NodeIndexDeps,
  ports: NodePorts,
  metrics: Metrics | undefined,
): Promise<NodeIndex> {
  const { clock, timers, log } = ports
  const writer = new IndexWriter({ ...deps, clock, timers, log, store: new PostgresIndex(url, timers), from })
  await writer.check()
  if (metrics !== undefined) register(metrics, () => writer.status)
  const reader = new PostgresReader(url, timers)
  return {
    reader,
    isFirst: false,
    health: () => ({ ok: true, text: healthText(writer.status) }),
    start: (finality) => writer.start(finality),
    stop: async () => {
      await writer.stop()
      await reader.close()
    },
  }
}

function healthText({ state, reason, height, behind, firstRows }: IndexStatus): string {
  switch (state) {
    case 'connecting':
      return 'index: connecting'
    case 'waiting':
      return 'index: another writer has it, this one waits'
    case 'failing':
      return `index: not written: ${reason}`
    case 'following':
      if (firstRows !== undefined) return `index: begins, ${firstRows} rows written, ${behind ?? 0} behind`
      return height === undefined ? 'index: empty' : `index: at epoch ${height}, ${behind ?? 0} behind`
  }
}

function register(metrics: Metrics, status: () => IndexStatus): void {
  const is = (state: IndexStatus['state']): number => (status().state === state ? 1 : 0)
  metrics.gauge('petrel_index_writing', '1 while this node writes its index.', () => is('following'))
  metrics.gauge('petrel_index_waiting', '1 while another writer has the index.', () => is('waiting'))
  metrics.gauge('petrel_index_height', 'Epoch of the newest tipset in the index.', () => status().height ?? 0)
  metrics.gauge('petrel_index_lag_epochs', 'Epochs that the index lacks.', () => status().behind ?? 0)
  metrics.total('petrel_index_tipsets_total', 'Tipsets that were written.', () => status().tipsets)
  metrics.total('petrel_index_transactions_total', 'Transactions that were written.', () => status().transactions)
  metrics.total('petrel_index_failures_total', 'Times that the index could not be written.', () => status().failures)
}
