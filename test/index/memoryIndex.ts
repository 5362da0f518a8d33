/** An index without a database, as the port says that one behaves; and writers of it. */
import { systemClock } from '../../platform/server/clock.ts'
import { IndexError } from '../../src/index/errors.ts'
import type {
  AppliedTipset,
  IndexChange,
  IndexedTipset,
  IndexPosition,
  IndexSession,
  IndexStore,
  Row,
  TipsetName,
} from '../../src/index/indexStore.ts'
import { IndexWriter, type IndexWriterDeps } from '../../src/index/indexWriter.ts'
import { tipsetName } from '../../src/index/tipsetRows.ts'
import { present } from '../../src/ipld/found.ts'
import { silentLog } from '../support/recordedView.ts'
import { type Indexed, neverFinal, timers } from './writers.ts'

/** A tipset that has rows. */
interface Kept {
  readonly height: number
  isCanonical: boolean
  readonly addresses: readonly Row[]
  readonly balances: readonly Row[]
}

/** What is written into memory. */
export class MemoryIndex implements IndexStore {
  readonly name = 'memory'
  position: IndexPosition | undefined
  /** Epochs at which it has stood, in order. */
  readonly stood: number[] = []
  readonly tipsets = new Map<TipsetName, Kept>()
  readonly completed: number[] = []
  /** Tipsets whose rows lack something. */
  lacking: IndexedTipset[] = []
  readonly #onTipset: () => void

  /** @param onTipset - hears of each tipset that is to be written */
  constructor(onTipset: () => void = () => undefined) {
    this.#onTipset = onTipset
  }

  check(): Promise<void> {
    return Promise.resolve()
  }

  open(): Promise<IndexSession> {
    return Promise.resolve({
      position: () => Promise.resolve(this.position),
      chain: (below: number, most: number) => {
        const chain = [...this.tipsets].filter(([, { height, isCanonical }]) => isCanonical && height < below)
        const places = chain.map(([tipset, { height }]) => ({ tipset, height })).sort((a, b) => b.height - a.height)
        return Promise.resolve(places.slice(0, most))
      },
      known: (names: readonly TipsetName[]) => Promise.resolve(new Set(names.filter((name) => this.tipsets.has(name)))),
      write: async (change: IndexChange) => this.#write(change),
      lacking: (below: number, most: number) =>
        Promise.resolve(this.lacking.filter(({ height }) => height < below).slice(0, most)),
      complete: ({ height }: AppliedTipset) => Promise.resolve(void this.completed.push(height)),
      lost: new AbortController().signal,
      close: () => Promise.resolve(),
    })
  }

  async #write({ from, reverted, applied, forgotten, position }: IndexChange): Promise<void> {
    if (this.position?.tipset !== from) throw new IndexError('POSITION_MOVED', 'another writer has written the index')
    for (const name of reverted) {
      const tipset = this.tipsets.get(name)
      if (tipset?.isCanonical !== true) throw new Error(`${name} is reverted, and was not on the chain`)
      tipset.isCanonical = false
    }
    for (const name of forgotten) this.tipsets.delete(name)
    for await (const { tipset, height, rows } of applied) {
      this.#onTipset()
      const known = this.tipsets.get(tipset)
      if ((known === undefined) !== (rows !== undefined)) throw new Error(`rows of ${tipset} are there, or are not`)
      if (known !== undefined) known.isCanonical = true
      if (rows === undefined) continue
      const kept: { addresses: Row[]; balances: Row[] } = { addresses: [], balances: [] }
      for (const { table, rows: own } of rows.batches) {
        if (table === 'addresses') kept.addresses.push(...own)
        if (table === 'balance_changes') kept.balances.push(...own)
      }
      this.tipsets.set(tipset, { height, isCanonical: true, ...kept })
    }
    this.position = position
    this.stood.push(position.height)
  }

  /** Its chain, oldest first. */
  get chain(): Kept[] {
    return [...this.tipsets.values()].filter(({ isCanonical }) => isCanonical).sort((a, b) => a.height - b.height)
  }

  get heights(): number[] {
    return this.chain.map(({ height }) => height)
  }

  /** `address actor`, sorted; one that stands in two tipsets twice. */
  get addresses(): string[] {
    return this.chain.flatMap(({ addresses }) => addresses.map(({ address, actor }) => `${address} ${actor}`)).sort()
  }

  /** `actor balance` of those that have something, sorted. */
  get balances(): string[] {
    const last = new Map(this.chain.flatMap(({ balances }) => balances.map((row) => [row.actor, row.balance] as const)))
    return [...last]
      .filter(([, balance]) => balance !== '0')
      .map(([actor, balance]) => `${actor} ${balance}`)
      .sort()
  }
}

/** The same two lists by the state. */
export function stateOf({ view }: Indexed): { readonly addresses: string[]; readonly balances: string[] } {
  const tree = view.stateBefore(view.store.head())
  return {
    addresses: [...tree.addresses()].map(([address, actor]) => `${view.addressText(address)} ${actor}`).sort(),
    balances: [...present(tree.found())]
      .filter(([, { balance }]) => balance !== 0n)
      .map(([actor, { balance }]) => `${actor} ${balance}`)
      .sort(),
  }
}

/** A writer that has been started. @param options - default: it begins where the chain stands, and nothing is final */
export function startedWriter(
  chain: Indexed,
  store: MemoryIndex,
  options: Partial<IndexWriterDeps> = {},
  finality = neverFinal(chain),
): IndexWriter {
  const { view, vm } = chain
  const writer = new IndexWriter({
    ...{ view, vm, store, clock: systemClock, timers, log: silentLog, longestPauseMs: 20 },
    ...options,
  })
  writer.start(finality)
  return writer
}

/** Resolves when it holds; asked again and again. */
export async function until(holds: () => boolean, tries = 2000): Promise<void> {
  for (let left = tries; !holds(); left--) {
    if (left === 0) throw new Error('it never came to hold')
    await new Promise((done) => setTimeout(done, 5))
  }
}

/** Resolves when the index stands at the newest executed tipset. */
export function standsAtHead({ view: { store } }: Indexed, index: MemoryIndex): Promise<void> {
  return until(() => index.position?.tipset === tipsetName(store.parent(store.head())))
}
