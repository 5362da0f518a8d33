import { FatalError } from '../kernel/outcomes.ts'
import { KEPT_EXPORT, LOWEST_EXPORT, PAGE_BYTES, PAGES_EXPORT } from './interfaceNames.ts'
import type { ModuleInfo } from './moduleInfo.ts'
import { type WasmInstance, type WasmInt32Global, type WasmMemory, wasm } from './webAssembly.ts'

/** Longest memory, bytes, of an instance that waits for its next run. */
const MAX_IDLE_BYTES = 64 * PAGE_BYTES
/** Instances that wait: some 18 MiB, and in V8 as many of the hundred memories that Chromium has room for. */
const MAX_IDLE = 16

/** Below its stack's end a function that calls no other may write so far without moving it. @see LLVM WebAssemblyFrameLowering `RedZoneSize` */
const RED_ZONE = 128

/** A mutable integer of an instance, and what it starts with. */
interface KeptGlobal {
  readonly global: { value: number | bigint }
  readonly initial: number | bigint
}

/** An instance of an actor's module, and the way back to how it started. */
export class ActorInstance {
  readonly info: ModuleInfo
  readonly exports: WasmInstance['exports']
  readonly memory: WasmMemory
  /** Pages that are the actor's; undefined: all. */
  readonly pages: WasmInt32Global | undefined
  readonly #kept: readonly KeptGlobal[]
  readonly #image: Uint8Array
  /** How low the stack in memory was; undefined: not known. */
  readonly #lowest: WasmInt32Global | undefined

  /**
   * @param image - what its module's memory starts with where it is not zero; undefined: this is the module's first instance
   * @throws FatalError without a memory
   */
  constructor(info: ModuleInfo, { exports }: WasmInstance, image: Uint8Array | undefined) {
    const { memory } = exports
    if (!(memory instanceof wasm.Memory)) throw new FatalError('actor has no memory export')
    this.info = info
    this.exports = exports
    this.memory = memory as WasmMemory
    this.pages = exports[PAGES_EXPORT] as WasmInt32Global | undefined
    const kept: KeptGlobal[] = []
    if (info.reusable) {
      for (;;) {
        const global = exports[KEPT_EXPORT + kept.length] as KeptGlobal['global'] | undefined
        if (global === undefined) break
        kept.push({ global, initial: global.value })
      }
    }
    this.#kept = kept
    const lowest = exports[LOWEST_EXPORT] as WasmInt32Global | undefined
    this.#lowest = hasStackFirst(kept, info) ? lowest : undefined
    this.#image = image ?? new Uint8Array(this.memory.buffer).slice(info.data.start, info.data.end)
  }

  get image(): Uint8Array {
    return this.#image
  }

  /**
   * Puts everything back that a run may have changed. Pages beyond the first ones are wiped when the actor asks for them, and of
   * the stack, which is 94 % of the first ones, only what was in use: to wipe all of it took 11 % of an empty tipset's time.
   */
  restore(): void {
    const { info, pages } = this
    const minimum = info.memoryPages ?? 0
    if (pages !== undefined) pages.value = minimum
    const clean = this.#clean()
    const bytes = new Uint8Array(this.memory.buffer, clean, minimum * PAGE_BYTES - clean)
    bytes.fill(0)
    bytes.set(this.#image, info.data.start - clean)
    for (const { global, initial } of this.#kept) global.value = initial
  }

  /** Bytes at the start of memory that are zero as they were. */
  #clean(): number {
    const lowest = this.#lowest
    if (lowest === undefined) return 0
    const top = this.#kept[0]?.initial as number
    const end = Math.min(lowest.value >>> 0, top)
    lowest.value = -1
    return Math.max(0, end - RED_ZONE)
  }
}

/**
 * Whether memory begins with the stack, whose end is in the first global, and data come behind it: what linkers have made of
 * Rust since actors exist. What lies below the lowest end is written by no function then.
 */
function hasStackFirst([first]: readonly KeptGlobal[], { data }: ModuleInfo): boolean {
  return typeof first?.initial === 'number' && first.initial > 0 && first.initial <= data.start
}

/**
 * Instances whose run has ended and that wait for another: making one and collecting it costs V8 0.4 ms, restoring 0.01.
 *
 * What one run leaves in memory that grew, and that the next has not asked for yet, is out of reach of all but an access beyond
 * the end of memory, which traps in a new instance and not there. No compiled Rust has one without undefined behaviour, and what
 * runs here are the network's own actors.
 */
export class InstancePool {
  /** The one that has waited longest first. */
  readonly #idle: ActorInstance[] = []
  readonly #images = new WeakMap<ModuleInfo, Uint8Array>()

  /** An instance as if it were new. */
  take(info: ModuleInfo): ActorInstance | undefined {
    const index = this.#idle.findLastIndex((idle) => idle.info === info)
    if (index < 0) return undefined
    const [instance] = this.#idle.splice(index, 1)
    instance?.restore()
    return instance
  }

  /** Describes an instance that was just made. */
  describe(info: ModuleInfo, made: WasmInstance): ActorInstance {
    const instance = new ActorInstance(info, made, this.#images.get(info))
    if (info.reusable) this.#images.set(info, instance.image)
    return instance
  }

  /** Takes back an instance whose run has ended, but not by a trap. */
  give(instance: ActorInstance): void {
    if (!instance.info.reusable || instance.memory.buffer.byteLength > MAX_IDLE_BYTES) return
    this.#idle.push(instance)
    if (this.#idle.length > MAX_IDLE) this.#idle.shift()
  }
}
