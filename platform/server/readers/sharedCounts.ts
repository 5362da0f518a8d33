/**
 * What the threads that answer one API have under way together: connections, bytes and dear calls, so that bounds hold for the process
 * and not for each of them. Every thread writes to a row of its own and reads all; the row of one that died is emptied, but for what it had
 * refused.
 */
import { MAX_READ_THREADS } from '../../../src/base/bounds.ts'
import type { Count } from '../../../src/base/count.ts'
import type { CallCounts } from '../../../src/rpc/callCounts.ts'
import type { DearClass } from '../../../src/rpc/cost.ts'

const KINDS = ['connections', 'bodies', 'unread'] as const
/** Threads of reads sign nothing and wait for nothing. */
const CLASSES: readonly Exclude<DearClass, 'sign' | 'wait'>[] = ['scan', 'execute', 'stream']
/** Callers are told apart by a hash that nobody outside can choose: two that share a place share their bound. */
const CALLERS = 1024
/** Waiting, running, running without a token, refused; callers' calls; those of them that run. */
const CLASS_CELLS = 4 + 2 * CALLERS
/** Of what is refused, among the cells of a class. */
const REFUSED = 3
/** The last of a row. */
const CACHE_KIB = KINDS.length + CLASSES.length * CLASS_CELLS
const ROW_CELLS = CACHE_KIB + 1
/** Before the rows: how many are in use, and what callers are hashed with. */
const HEAD_CELLS = 2
const ROWS = MAX_READ_THREADS + 1
const BYTES = (HEAD_CELLS + ROWS * ROW_CELLS) * Int32Array.BYTES_PER_ELEMENT

/** FNV-1a. */
function placeOf(name: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % CALLERS
}

/** First cell of a class in a row. */
function firstOf(index: number): number {
  return KINDS.length + index * CLASS_CELLS
}

/** One thread's view of what all count. */
export class SharedCounts {
  /** Given to other threads. */
  readonly cells: Int32Array
  readonly #row: number

  /** @param row - the node's own is 0 */
  constructor(cells: Int32Array, row: number) {
    this.cells = cells
    this.#row = row
  }

  /** Of the node: its row is the one in use. */
  static create(): SharedCounts {
    const cells = new Int32Array(new SharedArrayBuffer(BYTES))
    cells[0] = 1
    cells.set(crypto.getRandomValues(new Int32Array(1)), 1)
    return new SharedCounts(cells, 0)
  }

  /** A thread begins to count. */
  opened(): void {
    Atomics.add(this.cells, 0, 1)
  }

  /** The thread of a row has ended, whatever it had under way. */
  closed(row: number): void {
    Atomics.sub(this.cells, 0, 1)
    const first = HEAD_CELLS + row * ROW_CELLS
    // What it has refused stays refused: from now on it is the node's to count.
    for (const index of CLASSES.keys()) {
      const cell = firstOf(index) + REFUSED
      this.#add(cell, Atomics.load(this.cells, first + cell))
    }
    for (let i = 0; i < ROW_CELLS; i++) Atomics.store(this.cells, first + i, 0)
  }

  #add(cell: number, by: number): void {
    Atomics.add(this.cells, HEAD_CELLS + this.#row * ROW_CELLS + cell, by)
  }

  #total(cell: number): number {
    let sum = 0
    for (let row = 0; row < ROWS; row++) sum += Atomics.load(this.cells, HEAD_CELLS + row * ROW_CELLS + cell)
    return sum
  }

  /** Other rows that have something in a cell. */
  #busyOthers(cell: number): number {
    let busy = 0
    for (let row = 0; row < ROWS; row++) {
      if (row !== this.#row && Atomics.load(this.cells, HEAD_CELLS + row * ROW_CELLS + cell) > 0) busy++
    }
    return busy
  }

  /** Connections, or bytes. */
  of(kind: (typeof KINDS)[number]): Count {
    return this.#count(KINDS.indexOf(kind))
  }

  /** What decoded nodes take, as their caches count it, KiB. */
  get cacheKib(): Count {
    return this.#count(CACHE_KIB)
  }

  #count(cell: number): Count {
    return { add: (by) => this.#add(cell, by), total: () => this.#total(cell) }
  }

  /** Never less: a cell begins anew at 2^32, as an unsigned number. */
  #growing(cell: number): Count {
    const total = (): number => {
      let sum = 0
      for (let row = 0; row < ROWS; row++) sum += Atomics.load(this.cells, HEAD_CELLS + row * ROW_CELLS + cell) >>> 0
      return sum
    }
    return { add: (by) => this.#add(cell, by), total }
  }

  /** Calls of a kind. */
  calls(cost: DearClass): CallCounts | undefined {
    if (cost === 'sign' || cost === 'wait') return undefined
    const first = firstOf(CLASSES.indexOf(cost))
    const seed = this.cells[1] as number
    const callers = first + 4
    return {
      idle: () => Atomics.load(this.cells, 0) - 1 - this.#busyOthers(first + 1),
      waiting: this.#count(first),
      running: this.#count(first + 1),
      runningWithoutToken: this.#count(first + 2),
      refused: this.#growing(first + REFUSED),
      ofCaller: (caller) => this.#count(callers + placeOf(caller, seed)),
      runningOfCaller: (caller) => this.#count(callers + CALLERS + placeOf(caller, seed)),
    }
  }
}
