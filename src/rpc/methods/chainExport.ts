/** Methods that export the chain and look after its store. */

import { carHeaderBytes, carSectionHead } from '../../archive/car.ts'
import { BufferedSink, type ByteSink } from '../../archive/scratchFile.ts'
import { DEAR_TURN_MS } from '../../base/bounds.ts'
import { errorMessage } from '../../base/errors.ts'
import { Pace } from '../../base/pace.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import { sleep } from '../../base/waiting.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { allAtHand, type BlockEdge } from '../../ipld/blockFetcher.ts'
import { CidSet } from '../../ipld/cidSet.ts'
import { exportSnapshot } from '../../sync/snapshot/exportSnapshot.ts'
import { createSnapshotWriter } from '../../sync/snapshot/snapshotWriter.ts'
import { type RangeSelection, walkRange } from '../../sync/snapshot/walkRange.ts'
import type { TipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { EXPORT_STALLED_MS, EXPORT_UNREAD_BYTES, MAX_EXPORTS } from '../limits.ts'
import { type ChannelSink, channelMethod, type MethodRow, method } from '../method.ts'
import {
  chainCheckBlockstore,
  chainExport,
  chainExportRangeInternal,
  chainHotGC,
  chainPrune,
} from '../signatures/chainExport.ts'
import { loadTipset } from './chain.ts'

/** Largest chunk, bytes: printing one keeps everybody else waiting. */
const CHUNK_BYTES = 1 << 16
const WAIT_MS = 5

/** What the methods need. */
export interface ChainExportDeps {
  readonly view: ChainView
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /**
   * Starts a collection of old state now; undefined where the node collects none.
   * @param keepEpochs - epochs of state to keep; undefined: as configured
   */
  readonly collect?: (keepEpochs: number | undefined) => void
  /** Makes a file in the node's home whose name begins so; undefined: there are no files. */
  readonly createFile?: (name: string) => ByteSink & { close(): void }
  /** Around what an export to a file reads. Default: all is at hand. */
  readonly edge?: BlockEdge | undefined
}

/** Cuts what is written into chunks. */
class Chunks implements ByteSink {
  readonly waiting: Uint8Array[] = []

  write(data: Uint8Array): void {
    for (let at = 0; at < data.length; at += CHUNK_BYTES) this.waiting.push(data.slice(at, at + CHUNK_BYTES))
  }
}

/** One export, under way. */
async function run(
  deps: ChainExportDeps,
  [recentStateRoots, skipOldMessages, key]: readonly [number, boolean, Parameters<typeof loadTipset>[1]],
  sink: ChannelSink<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const { view, clock, timers, log } = deps
  const head = loadTipset(view, key)
  const chunks = new Chunks()
  const pace = new Pace(clock, timers, DEAR_TURN_MS)
  const send = async (): Promise<void> => {
    for (const chunk of chunks.waiting.splice(0)) {
      for (let waited = 0; sink.unreadBytes() > EXPORT_UNREAD_BYTES; waited += WAIT_MS) {
        signal.throwIfAborted()
        if (waited > EXPORT_STALLED_MS) throw new RpcError('FAILED', 'the client does not read')
        await sleep(timers, WAIT_MS)
      }
      signal.throwIfAborted()
      sink.value(chunk)
      if (pace.isDue) await pace.pause()
    }
    if (pace.isDue) await pace.pause()
    signal.throwIfAborted()
  }
  try {
    await exportSnapshot({
      blocks: view.store.blocks,
      head,
      selection: { recentStateRoots, skipOldMessages },
      writer: createSnapshotWriter(chunks, {
        head: head.key,
        format: 'car',
        version: 1,
        compress: (data) => data,
        openScratch: () => {
          throw new RpcError('FAILED', 'a plain CAR needs no scratch file')
        },
      }),
      isDue: () => pace.isDue,
      pause: send,
    })
    await send()
    // An empty chunk says that it is complete.
    sink.value(new Uint8Array(0))
  } catch (error) {
    if (!signal.aborted) log.warn('chain export failed', { message: errorMessage(error) })
  }
  if (!signal.aborted) sink.close()
}

/** @see lotus node/impl/full/chain.go ChainExportRangeInternal */
async function exportRange(
  { view, clock, timers, createFile, edge = allAtHand }: ChainExportDeps,
  headKey: TipsetKey,
  tailKey: TipsetKey,
  config: Omit<RangeSelection, 'tail'>,
  signal: AbortSignal,
): Promise<void> {
  const head = await edge(() => loadTipset(view, headKey), signal)
  const tail = await edge(() => loadTipset(view, tailKey), signal)
  if (head.height < tail.height) {
    const text = `Height of head-tipset (${head.height}) must be greater or equal to the height of the tail-tipset (${tail.height})`
    throw new RpcError('FAILED', text)
  }
  if (createFile === undefined) throw new RpcError('FAILED', 'not supported: files in this runtime')
  const file = createFile(`snapshot_${tail.height}_${head.height}`)
  const sink = new BufferedSink(file)
  try {
    sink.write(carHeaderBytes(head.key))
    const pace = new Pace(clock, timers, DEAR_TURN_MS)
    const written = new CidSet()
    await edge(async () => {
      for (const [cid, data] of walkRange(view.store.blocks, head, { ...config, tail: tail.height })) {
        // An earlier walk ended where a block was missing.
        if (written.add(cid)) {
          sink.write(carSectionHead(cid, data.length))
          sink.write(data)
        }
        if (pace.isDue) await pace.pause()
        signal.throwIfAborted()
      }
    }, signal)
    sink.flush()
  } finally {
    file.close()
  }
}

/** Rows of the export and of the store's care. */
export function chainExportMethods(deps: ChainExportDeps): MethodRow[] {
  let running = 0
  return [
    channelMethod({
      ...chainExport,
      subscribe: (recentStateRoots, skipOldMessages, key, sink) => {
        if (running >= MAX_EXPORTS) throw new RpcError('FAILED', `${running} exports are running already`)
        // Asked for before the answer, so that an unknown tipset is an error and no empty channel.
        loadTipset(deps.view, key)
        const stop = new AbortController()
        running++
        void run(deps, [recentStateRoots, skipOldMessages, key], sink, stop.signal).finally(() => running--)
        return () => stop.abort()
      },
    }),
    method({
      ...chainExportRangeInternal,
      handler: (headKey, tailKey, config, { signal }) => exportRange(deps, headKey, tailKey, config, signal),
    }),
    method({
      ...chainPrune,
      handler: ({ retainState }) => {
        if (deps.collect === undefined) throw new RpcError('FAILED', 'base blockstore does not support pruning')
        deps.collect(retainState > 0 ? retainState : undefined)
      },
    }),
    method({
      ...chainHotGC,
      handler: () => {
        throw new RpcError('FAILED', 'base blockstore does not support hot GC')
      },
    }),
    method({
      ...chainCheckBlockstore,
      handler: () => {
        throw new RpcError('FAILED', 'underlying blockstore does not support health checks')
      },
    }),
  ]
}
