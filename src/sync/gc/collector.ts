/**
 * Collects old state in the background of a running node, every so many epochs, so that the store stays bounded.
 * @see collection.ts
 */
import { fromUtf8, utf8 } from '../../base/bytes.ts'
import { errorMessage } from '../../base/errors.ts'
import type { Clock, KeyValueStore, Logger, Timers } from '../../base/ports.ts'
import { sleep } from '../../base/waiting.ts'
import type { ChainStore } from '../../chain/chainStore.ts'
import { PLACE_GENERATION_EPOCHS } from '../../chain/limits.ts'
import type { Cid } from '../../codec/cid.ts'
import type { CollectableBlocks } from '../../ipld/collectable.ts'
import { Collection, type CollectionCounts, type CollectionPhase, type Retention } from './collection.ts'
import { PutRecord } from './putRecord.ts'

/** Height of the head at the last collection that ended, decimal; with a `!` before it while one is sweeping. */
const STATE_KEY = utf8('gc/last')

/** How often and how much. */
export interface CollectorSettings extends Retention {
  /** Epochs between two collections. */
  readonly intervalEpochs: number
  /** Work at a time and rest after it, ms: a collection takes a third of one processor, and more the faster the head moves meanwhile. */
  readonly sliceMs: number
  readonly restMs: number
  /** See {@link CollectionInput.stepBlocks}. */
  readonly stepBlocks?: number
}

/**
 * State as a minimal snapshot has it, collected four times a day on a public network. Validation looks back 900 epochs and F3 no
 * further, so that no less than 1,800 should be kept there. Messages and receipts are small beside it, and looked for by
 * whoever waits for a deposit: of two days, as long as each generation of rows knows where they lie.
 */
const DEFAULT_COLLECTOR_SETTINGS: CollectorSettings = {
  stateEpochs: 2000,
  messageEpochs: PLACE_GENERATION_EPOCHS,
  intervalEpochs: 720,
  sliceMs: 5,
  restMs: 10,
}

/** What a collector is made of. */
export interface CollectorDeps {
  readonly store: ChainStore
  /** The node's own blocks, without the archive below them. */
  readonly blocks: CollectableBlocks
  readonly meta: KeyValueStore
  /** What no header names and yet is needed: states and receipts in caches, manifests, messages of the pool. */
  readonly roots: () => Iterable<Cid>
  readonly timers: Timers
  readonly clock: Clock
  readonly log: Logger
}

/** What a collection did. */
export interface CollectionResult extends CollectionCounts {
  readonly headHeight: number
  readonly milliseconds: number
}

/** What a collector is at. */
export interface CollectorStatus {
  readonly phase: CollectionPhase | 'idle'
  readonly counts: Readonly<CollectionCounts> | undefined
  readonly last: CollectionResult | undefined
  /** Of all collections since the start that came to their end. */
  readonly total: { readonly collections: number; readonly milliseconds: number; readonly deleted: number }
}

/** Begins a {@link Collection} every so many epochs and takes its steps; one at a time. */
export class Collector {
  readonly #deps: CollectorDeps
  readonly #settings: CollectorSettings
  readonly #puts: PutRecord
  readonly #unsubscribe: (() => void)[] = []
  #collection: Collection | undefined
  #running: Promise<CollectionResult | undefined> | undefined
  #last: CollectionResult | undefined
  #total: CollectorStatus['total'] = { collections: 0, milliseconds: 0, deleted: 0 }
  #lastHeight: number | undefined
  readonly #stopping = new AbortController()

  /** Records puts from now on; collects only after {@link Collector.start}. */
  constructor(deps: CollectorDeps, settings: Partial<CollectorSettings> = {}) {
    this.#deps = deps
    this.#settings = { ...DEFAULT_COLLECTOR_SETTINGS, ...settings }
    this.#puts = new PutRecord(deps.clock.monotonicMs())
    this.#unsubscribe.push(
      deps.blocks.onPut((cid, data) => {
        this.#puts.add(cid, deps.clock.monotonicMs())
        this.#collection?.put(cid, data)
      }),
      deps.store.onHeadChange(() => this.#puts.moved(deps.store.head().height)),
    )
  }

  /** Collects from now on whenever the head has moved far enough; at once after a collection that was cut short. */
  start(): void {
    const { store, meta, log } = this.#deps
    const kept = meta.get(STATE_KEY)
    const text = kept === undefined ? '' : fromUtf8(kept)
    if (text.startsWith('!')) log.info('a collection of old state was cut short and starts again')
    else this.#lastHeight = text === '' ? store.head().height : Number(text)
    const check = (): void => {
      const { height } = store.head()
      // A head far below the last one: the chain was set back.
      if (this.#lastHeight !== undefined && height < this.#lastHeight) this.#lastHeight = height
      if (height - (this.#lastHeight ?? -Infinity) < this.#settings.intervalEpochs) return
      void this.collect().catch((error: unknown) => {
        log.error('collection of old state failed', { message: errorMessage(error) })
      })
    }
    this.#unsubscribe.push(store.onHeadChange(check))
    check()
  }

  get status(): CollectorStatus {
    return {
      phase: this.#collection?.phase ?? 'idle',
      counts: this.#collection?.counts,
      last: this.#last,
      total: this.#total,
    }
  }

  /**
   * Collects now; joins a collection that runs already.
   * @param stateEpochs - default: as set; at least as many epochs of messages are kept
   * @returns undefined when the collector was stopped meanwhile
   */
  collect(stateEpochs: number = this.#settings.stateEpochs): Promise<CollectionResult | undefined> {
    this.#running ??= this.#collect(stateEpochs).finally(() => {
      this.#running = undefined
      this.#collection = undefined
      this.#puts.release()
    })
    return this.#running
  }

  async #collect(stateEpochs: number): Promise<CollectionResult | undefined> {
    const stopping = this.#stopping.signal
    if (stopping.aborted) return undefined
    const { store, blocks, roots, clock, timers, log } = this.#deps
    const { stepBlocks, sliceMs } = this.#settings
    const began = clock.monotonicMs()
    const headHeight = store.head().height
    this.#lastHeight = headHeight
    this.#puts.hold()
    const messageEpochs = Math.max(stateEpochs, this.#settings.messageEpochs)
    const retention = { stateEpochs, messageEpochs }
    const collection = new Collection({
      blocks,
      headHeight,
      retention,
      puts: this.#puts,
      roots: roots(),
      ...(stepBlocks === undefined ? {} : { stepBlocks }),
    })
    this.#collection = collection
    let phase: CollectionPhase = collection.phase
    while (phase !== 'done') {
      await sleep(timers, this.#restMs(headHeight), stopping).catch(() => undefined)
      if (stopping.aborted) return undefined
      const until = clock.monotonicMs() + sliceMs
      do {
        const next = collection.step()
        if (next === 'sweeping' && phase !== 'sweeping') this.#keep(`!${headHeight}`)
        phase = next
      } while (phase !== 'done' && clock.monotonicMs() < until)
    }
    this.#keep(String(headHeight))
    const result = { ...collection.counts, headHeight, milliseconds: clock.monotonicMs() - began }
    this.#last = result
    const { collections, milliseconds, deleted } = this.#total
    this.#total = {
      collections: collections + 1,
      milliseconds: milliseconds + result.milliseconds,
      deleted: deleted + result.deleted,
    }
    log.info('old state collected', { ...result })
    return result
  }

  /** None when the next collection would be due: a node that catches up puts more than one can take away that keeps resting. */
  #restMs(headHeight: number): number {
    const { restMs, intervalEpochs } = this.#settings
    const moved = this.#deps.store.head().height - headHeight
    return restMs * Math.min(1, Math.max(0, 1 - moved / intervalEpochs))
  }

  #keep(text: string): void {
    this.#deps.meta.put(STATE_KEY, utf8(text))
  }

  /** Ends what runs, soon; the next start begins anew. Before the stores are closed. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const end of this.#unsubscribe.splice(0)) end()
    await this.#running?.catch(() => undefined)
  }
}
