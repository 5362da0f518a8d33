/** Fills an index from an archive, by the same writer that follows a head: the same rows, and it goes on where it was stopped. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Closers } from '../../../src/base/closers.ts'
import { errorMessage } from '../../../src/base/errors.ts'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import type { Logger } from '../../../src/base/ports.ts'
import { whenAborted } from '../../../src/base/waiting.ts'
import type { ChainView } from '../../../src/chain/chainView.ts'
import { openChain } from '../../../src/chain/openChain.ts'
import type { VmHost } from '../../../src/chain/vm.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { CachingVmHost } from '../../../src/execution/cachingVmHost.ts'
import { IndexError } from '../../../src/index/errors.ts'
import type { IndexPosition } from '../../../src/index/indexStore.ts'
import { IndexWriter, indexedChain } from '../../../src/index/indexWriter.ts'
import { RowCompleter } from '../../../src/index/rowCompleter.ts'
import { TipsetRows } from '../../../src/index/tipsetRows.ts'
import { hasBlock, LayeredBlockstore, MemoryBlockstore } from '../../../src/ipld/blockstore.ts'
import { NodeCache } from '../../../src/ipld/nodeCache.ts'
import { genesisHeaderOf } from '../../../src/networks/genesisHeaders.ts'
import { viewOf } from '../../../src/node/openNode.ts'
import type { ChainEpoch } from '../../../src/types/scalars.ts'
import { firstBlock } from '../../../src/types/tipset.ts'
import { ActorBundles, bundledBlocks } from '../actorBundles.ts'
import { openArchiveFile } from '../archiveFile.ts'
import { cacheSizes, vmThreads } from '../cacheSize.ts'
import { systemClock, systemTimers } from '../clock.ts'
import { PlatformError } from '../errors.ts'
import type { Home } from '../home.ts'
import { createLogger } from '../logger.ts'
import { findNetwork } from '../networkFiles.ts'
import { openVm } from '../openVm.ts'
import { line, type ProgramIo } from '../programIo.ts'
import { everyFewSeconds, percentText } from '../progressText.ts'
import { PostgresIndex } from './postgresIndex.ts'
import { TurnBlocks } from './turnBlocks.ts'

/** What is filled from where. */
export interface BackfillOptions {
  /** Path of a CAR of any form. */
  readonly archive: string
  /** Built-in name, or path of a `network.json`. */
  readonly network: string
  readonly url: string
  /** Epoch at which an empty index begins; undefined: at the lowest one that can be executed. */
  readonly from: ChainEpoch | undefined
  /** Threads; undefined: by the machine. */
  readonly workers: number | undefined
  /** Where actors' bundles are. */
  readonly home: Home
  readonly io: ProgramIo
}

/** What was written. */
export interface Backfilled {
  /** Of the index now. */
  readonly height: ChainEpoch
  readonly tipsets: number
  /** Tipsets whose rows an earlier Petrel had written, and that have its new columns now. */
  readonly completed: number
  readonly seconds: number
}

const POLL_MS = 100
/** Pause before a database that did not answer is asked again. */
const RETRY_MS = 1000
const MS_PER_SEC = 1000
const SEC_PER_MIN = 60

/** What goes away by itself. */
const PASSING: readonly unknown[] = ['CONNECTION_LOST', 'POSITION_MOVED', 'DATABASE_FAILED']

/**
 * Writes until the index holds the archive's chain, but for its head, whose execution is in no archive.
 * @throws PlatformError `CONFIG_INVALID`; IndexError; BlockMissing where the archive lacks states; the reason of the io's signal
 */
export async function backfill(options: BackfillOptions): Promise<Backfilled> {
  const closers = new Closers()
  const { io } = options
  closers.add(whenAborted(io.signal, () => line(io, 'stopping: what is being written and executed')))
  try {
    const made = new TurnBlocks()
    return await fill(options, await openView(options, made, closers), made, closers)
  } finally {
    await closers.close()
  }
}

async function openView(
  { archive, network: name, home, io }: BackfillOptions,
  made: TurnBlocks,
  closers: Closers,
): Promise<ChainView> {
  const path = resolve(archive)
  if (!existsSync(path)) throw new PlatformError('CONFIG_INVALID', `Cannot find the archive ${path}`)
  const network = findNetwork(name)
  await initCrypto()
  const say = everyFewSeconds(io)
  const file = await openArchiveFile(path, {
    ...{ home: home.snapshots, signal: io.signal },
    onProgress: ({ phase, bytes, totalBytes }) => say(() => `${phase}: ${percentText(bytes, totalBytes)}`),
  })
  closers.add(() => file.close())
  await file.ready
  const known = new MemoryBlockstore()
  // Without a cache of their own, trees keep all that was ever decoded of them.
  const nodes = new NodeCache(cacheSizes().nodes)
  const blocks = new LayeredBlockstore([made, known, file.store, bundledBlocks(new ActorBundles(home.actors))], nodes)
  const { genesisCid, blockDelaySecs } = network
  const header = genesisHeaderOf(network)
  if (header !== undefined && genesisCid !== null && !hasBlock(blocks, genesisCid)) known.put(genesisCid, header)
  const genesis = genesisCid === null ? {} : { genesis: genesisCid }
  const meta = new MemoryStore()
  const log = warnings()
  return viewOf(openChain({ blocks, meta, log, roots: file.store.roots, blockDelaySecs, ...genesis }), network)
}

async function fill(
  options: BackfillOptions,
  view: ChainView,
  made: TurnBlocks,
  closers: Closers,
): Promise<Backfilled> {
  const { io, url, home, workers = vmThreads() } = options
  const log = warnings()
  const mode = view.network.actors
  const threads = { archive: resolve(options.archive), actors: home.actors, mode, cache: cacheSizes() }
  const machine = openVm(view, threads, log, { threads: workers })
  closers.add(() => machine.close())
  let stop = (): void => machine.close()
  closers.add(whenAborted(io.signal, () => stop()))
  const began = performance.now()
  let failure: Error | undefined
  const say = everyFewSeconds(io)
  const vm = new CachingVmHost(view.store, machine.vm)
  const store = new PostgresIndex(url, systemTimers)
  const { completed, position } = await completeRows(view, vm, store, { workers, log, io, say, made })
  // What stands above the archive has nothing else to get from it.
  if (completed > 0 && position !== undefined && position.height > view.store.head().height) {
    return { height: position.height, tipsets: 0, completed, seconds: (performance.now() - began) / MS_PER_SEC }
  }
  const writer = new IndexWriter({
    ...{ view, vm, clock: systemClock, timers: systemTimers, log, store },
    from: options.from ?? lowestState(view),
    onFailure: (error) => {
      if (error instanceof IndexError && PASSING.includes(error.code)) return
      failure = error instanceof Error ? error : new IndexError('DATABASE_FAILED', errorMessage(error))
    },
  })
  closers.add(() => writer.stop())
  stop = () => {
    // A transaction under way is whole; rows for later ones are not waited for.
    void writer.stop()
    machine.close()
  }
  // What an archive says is final, is the business of the node that follows from there.
  writer.start({ finalized: () => view.store.genesis(), onCertificate: () => () => undefined })
  // The first tipset of an index takes minutes, which say nothing of the others.
  let first: { readonly tipsets: number; readonly seconds: number } | undefined
  for (let written = 0; ; ) {
    const { state, behind, firstRows, height, tipsets, transactions } = writer.status
    if (transactions > written) made.turn()
    written = transactions
    const seconds = (performance.now() - began) / MS_PER_SEC
    if (io.signal.aborted) {
      await writer.stop()
      line(io, `the index is at epoch ${writer.status.height ?? 'none'}: the same command goes on from there`)
      io.signal.throwIfAborted()
    }
    if (failure !== undefined) throw failure
    if (state === 'following' && behind === 0 && height !== undefined) return { height, tipsets, completed, seconds }
    if (tipsets > 0) first ??= { tipsets, seconds }
    const rate = first === undefined ? 0 : (tipsets - first.tipsets) / (seconds - first.seconds)
    say(() => {
      if (state !== 'following') return `index: ${state}`
      if (firstRows !== undefined) return `the first tipset, every balance and address: ${firstRows} rows`
      // Of the first tipsets there is no pace yet.
      const pace = rate > 0 ? `: ${Math.round(rate * SEC_PER_MIN)} tipsets a minute` : ''
      const left =
        behind === undefined || pace === '' ? '' : `, ${behind} epochs to go, about ${Math.ceil(behind / rate)} s`
      return `epoch ${height ?? 'none'}${pace}${left}`
    })
    // Not the node's timers: this one keeps the process alive while a database is waited for.
    await new Promise((done) => setTimeout(done, POLL_MS))
  }
}

/** Gives rows that an earlier Petrel wrote what they lack, as far as the archive has the states. @throws as {@link backfill} */
async function completeRows(
  view: ChainView,
  vm: VmHost,
  store: PostgresIndex,
  {
    workers,
    log,
    io,
    say,
    made,
  }: Pick<BackfillOptions, 'io'> & {
    readonly workers: number
    readonly log: Logger
    readonly say: (text: () => string) => void
    readonly made: TurnBlocks
  },
): Promise<{ completed: number; position: IndexPosition | undefined }> {
  const completer = new RowCompleter(new TipsetRows(view, vm), view.store, log, workers)
  for (;;) {
    try {
      const session = await store.open(indexedChain(view), io.signal, () => say(() => 'index: waiting'))
      try {
        while (await completer.next(session)) {
          made.turn()
          io.signal.throwIfAborted()
          say(() => `rows of an earlier Petrel: ${completer.completed} tipsets completed`)
        }
        return { completed: completer.completed, position: await session.position() }
      } finally {
        await session.close()
      }
    } catch (error) {
      io.signal.throwIfAborted()
      if (!(error instanceof IndexError) || !PASSING.includes(error.code)) throw error
      say(() => `index: ${error.message}`)
    }
    await new Promise((done) => setTimeout(done, RETRY_MS))
  }
}

function warnings(): Logger {
  return createLogger({ level: 'warn', format: 'text' })
}

/** The lowest epoch of the head's chain from which on every state is here. */
function lowestState(view: ChainView): ChainEpoch {
  const { store } = view
  let lowest = store.parent(store.head())
  while (lowest.height > 0) {
    const parent = store.parent(lowest)
    if (!hasBlock(store.blocks, firstBlock(parent).parentStateRoot)) break
    lowest = parent
  }
  return lowest.height
}
