/**
 * A HAMT in an actor's state: one hash by the machine per access, failures as the actor's exit code.
 * @see builtin-actors v18 runtime/src/util/map.rs Map2
 */
import type { Cid } from '../codec/cid.ts'
import type { Codec } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { BlockMissing, IpldError } from '../ipld/errors.ts'
import { Hamt } from '../ipld/hamt.ts'
import { Exit } from '../types/exitCodes.ts'
import { ActorError } from './errors.ts'
import type { Runtime } from './runtime.ts'

const DEFAULT_BIT_WIDTH = 5

/** Runs a tree operation; what is wrong with the tree is the actor's illegal state. */
export function orIllegalState<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    // A block that this machine lacks is no fault of the tree: the host fetches it and runs the message again.
    if (error instanceof BlockMissing) throw error
    if (error instanceof IpldError || error instanceof CodecError) {
      throw new ActorError(Exit.USR_ILLEGAL_STATE, error.message)
    }
    throw error
  }
}

/** A map from byte strings; writes stay in memory until {@link ActorMap.flush}. */
export class ActorMap<V> {
  readonly #runtime: Runtime
  readonly #hamt: Hamt<V>

  private constructor(runtime: Runtime, hamt: Hamt<V>) {
    this.#runtime = runtime
    this.#hamt = hamt
  }

  static empty<V>(runtime: Runtime, codec: Codec<V>, bitWidth: number = DEFAULT_BIT_WIDTH): ActorMap<V> {
    return new ActorMap(runtime, Hamt.empty(runtime.store, codec, { bitWidth }))
  }

  static load<V>(runtime: Runtime, root: Cid, codec: Codec<V>, bitWidth: number = DEFAULT_BIT_WIDTH): ActorMap<V> {
    return new ActorMap(
      runtime,
      orIllegalState(() => Hamt.load(runtime.store, root, codec, { bitWidth })),
    )
  }

  get isEmpty(): boolean {
    return this.#hamt.isEmpty
  }

  get(key: Uint8Array): V | undefined {
    this.#runtime.hashKey(key)
    return orIllegalState(() => this.#hamt.get(key))
  }

  has(key: Uint8Array): boolean {
    this.#runtime.hashKey(key)
    return orIllegalState(() => this.#hamt.has(key))
  }

  set(key: Uint8Array, value: V): void {
    this.#runtime.hashKey(key)
    orIllegalState(() => {
      this.#hamt.set(key, value)
    })
  }

  /** @returns whether the key was absent and is set now */
  setIfAbsent(key: Uint8Array, value: V): boolean {
    this.#runtime.hashKey(key)
    return orIllegalState(() => {
      if (this.#hamt.has(key)) return false
      this.#hamt.set(key, value)
      return true
    })
  }

  /** @returns the value that was removed, undefined when there was none */
  delete(key: Uint8Array): V | undefined {
    this.#runtime.hashKey(key)
    return orIllegalState(() => {
      const value = this.#hamt.get(key)
      this.#hamt.delete(key)
      return value
    })
  }

  flush(): Cid {
    return orIllegalState(() => this.#hamt.flush())
  }

  /** In the tree's order; nothing is hashed. */
  forEach(visit: (key: Uint8Array, value: V) => void): void {
    orIllegalState(() => {
      this.#hamt.forEach(visit)
    })
  }
}
