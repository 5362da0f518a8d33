import { PAGE_BYTES } from './interfaceNames.ts'
import { type WasmMemory, wasm } from './webAssembly.ts'

/** Memories that take turns. More of them mean less copying; each reserves 8 GiB of address space in V8. */
const POOL_MEMORIES = 8

interface Slot {
  readonly memory: WasmMemory
  /** Bytes that the run in it may use at present, of the runs in it from the outside in. */
  readonly runs: { readonly pages: () => number; saved: Uint8Array | undefined }[]
}

/**
 * Memory for more runs than a host has memories: nested runs take turns in a few of them. What an outer run had is kept
 * aside and put back when the inner one has ended; a module sees its own pages only (its rules have `hostMemory`).
 */
export class MemoryPool {
  readonly #slots: Slot[] = []
  #next = 0

  /** The memory for the next run that nests. */
  peek(): WasmMemory {
    const index = this.#next % POOL_MEMORIES
    const known = this.#slots[index]
    if (known !== undefined) return known.memory
    const memory = new wasm.Memory({ initial: 1 })
    this.#slots[index] = { memory, runs: [] }
    return memory
  }

  /**
   * Begins a run in the memory that {@link peek} gave: all zero, at least `pages` long.
   * @param inUse - pages that the run has, asked when it has to make room
   */
  begin(pages: number, inUse: () => number): void {
    const memory = this.peek()
    const { runs } = this.#slots[this.#next % POOL_MEMORIES] as Slot
    const outer = runs.at(-1)
    if (outer !== undefined) outer.saved = new Uint8Array(memory.buffer).slice(0, outer.pages() * PAGE_BYTES)
    const missing = pages - memory.buffer.byteLength / PAGE_BYTES
    if (missing > 0) memory.grow(missing)
    new Uint8Array(memory.buffer, 0, pages * PAGE_BYTES).fill(0)
    runs.push({ pages: inUse, saved: undefined })
    this.#next++
  }

  /** Ends the run that began last. */
  end(): void {
    this.#next--
    const { memory, runs } = this.#slots[this.#next % POOL_MEMORIES] as Slot
    runs.pop()
    const outer = runs.at(-1)
    if (outer?.saved === undefined) return
    new Uint8Array(memory.buffer).set(outer.saved)
    outer.saved = undefined
  }
}
