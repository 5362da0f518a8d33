/**
 * The state tree as the machine sees it during a run: actors and resolved addresses in memory, with transactions.
 * Nothing reaches the tree before {@link MachineState.flush}.
 * @see ref-fvm fvm/src/state_tree.rs StateTree; fvm/src/init_actor.rs
 */
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, text, tuple, u64, uint } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { type Blockstore, getCbor, putCbor } from '../ipld/blockstore.ts'
import { BlockMissing, IpldError } from '../ipld/errors.ts'
import { Hamt } from '../ipld/hamt.ts'
import { type ActorState, actorV4, actorV5 } from '../types/actor.ts'
import { type Address, addressToId, idAddress, isIdAddress } from '../types/address.ts'
import type { ActorId } from '../types/scalars.ts'
import { VmError } from './errors.ts'
import { FatalError } from './kernel/outcomes.ts'

export const INIT_ACTOR: ActorId = 1n

interface InitState {
  readonly addressMap: Cid
  readonly nextId: ActorId
  readonly networkName: string
}

/** The same at every version of the actors from 8 on. */
const initState: Codec<InitState> = tuple<InitState>('init.State', [
  ['addressMap', 'AddressMap', cid],
  ['nextId', 'NextID', u64],
  ['networkName', 'NetworkName', text],
])

interface StateRoot {
  readonly version: number
  readonly actors: Cid
  readonly info: Cid
}

const stateRoot: Codec<StateRoot> = tuple<StateRoot>('types.StateRoot', [
  ['version', 'Version', uint],
  ['actors', 'Actors', cid],
  ['info', 'Info', cid],
])

/** Layouts of the tree that the machine knows: actors without, and with, a delegated address. */
const TREE_V4 = 4
const TREE_V5 = 5

interface Entry {
  /** null: deleted or absent. */
  readonly actor: ActorState | null
  readonly isDirty: boolean
}

type Undo = { readonly id: ActorId; readonly before: Entry | undefined } | { readonly resolved: string }

/** An init actor whose state is not one is fatal, as in the reference; a missing block is the host's matter. */
function readingInit<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof CodecError || (cause instanceof IpldError && !(cause instanceof BlockMissing))) {
      throw new FatalError(`init actor state is malformed: ${cause.message}`, { cause })
    }
    throw cause
  }
}

export class MachineState {
  readonly #root: StateRoot
  readonly #tree: Hamt<ActorState>
  readonly #store: Blockstore
  readonly #actors = new Map<ActorId, Entry>()
  readonly #resolved = new Map<string, ActorId>()
  readonly #log: Undo[] = []
  readonly #marks: number[] = []
  /** The address map of the init actor at the root that it was loaded from. */
  #addresses: { readonly head: Cid; readonly map: Hamt<bigint> } | undefined

  /** @throws BlockMissing; VmError `INVALID_STATE` for a tree of another version than 4 or 5 */
  constructor(store: Blockstore, root: Cid) {
    this.#store = store
    this.#root = getCbor(store, stateRoot, root)
    const { version, actors } = this.#root
    if (version !== TREE_V4 && version !== TREE_V5) {
      throw new VmError('INVALID_STATE', `not supported: state tree version ${version}, expected 4 or 5`)
    }
    this.#tree = Hamt.load(store, actors, version === TREE_V4 ? actorV4 : actorV5)
  }

  /** Layout of the tree: 4, or 5 with delegated addresses. */
  get version(): number {
    return this.#root.version
  }

  getActor(id: ActorId): ActorState | undefined {
    let entry = this.#actors.get(id)
    if (entry === undefined) {
      entry = { actor: this.#tree.get(idAddress(id).bytes) ?? null, isDirty: false }
      // Not logged: what was read stays true whatever is rolled back.
      this.#actors.set(id, entry)
    }
    return entry.actor ?? undefined
  }

  setActor(id: ActorId, actor: ActorState): void {
    this.#write(id, { actor, isDirty: true })
  }

  deleteActor(id: ActorId): void {
    this.#write(id, { actor: null, isDirty: true })
  }

  #write(id: ActorId, entry: Entry): void {
    if (this.#marks.length > 0) this.#log.push({ id, before: this.#actors.get(id) })
    this.#actors.set(id, entry)
  }

  /** The ID that the init actor has for an address; f0 addresses are themselves. */
  lookupId(address: Address): ActorId | undefined {
    if (isIdAddress(address)) return addressToId(address)
    const known = this.#resolved.get(address.key)
    if (known !== undefined) return known
    const id = readingInit(() => this.#addressMap(this.#loadInit().state.addressMap).get(address.bytes))
    if (id !== undefined) this.#resolve(address, id)
    return id
  }

  /** Gives an address the next free ID. */
  registerAddress(address: Address): ActorId {
    const { actor, state } = readingInit(() => this.#loadInit())
    const id = state.nextId
    const head = readingInit(() => {
      const map = Hamt.load(this.#store, state.addressMap, u64)
      map.set(address.bytes, id)
      return putCbor(this.#store, initState, { ...state, addressMap: map.flush(), nextId: id + 1n })
    })
    this.setActor(INIT_ACTOR, { ...actor, head })
    this.#resolve(address, id)
    return id
  }

  #resolve(address: Address, id: ActorId): void {
    if (this.#marks.length > 0) this.#log.push({ resolved: address.key })
    this.#resolved.set(address.key, id)
  }

  #addressMap(root: Cid): Hamt<bigint> {
    if (this.#addresses === undefined || !this.#addresses.head.equals(root)) {
      this.#addresses = { head: root, map: Hamt.load(this.#store, root, u64) }
    }
    return this.#addresses.map
  }

  #loadInit(): { actor: ActorState; state: InitState } {
    const actor = this.getActor(INIT_ACTOR)
    if (actor === undefined) throw new FatalError('init actor address could not be resolved')
    return { actor, state: getCbor(this.#store, initState, actor.head) }
  }

  /** Begins a transaction; they nest. */
  begin(): void {
    this.#marks.push(this.#log.length)
  }

  /** Ends the innermost transaction. */
  end(revert: boolean): void {
    const mark = this.#marks.pop() as number
    if (revert) this.#undo(mark)
    if (this.#marks.length === 0) this.#log.length = 0
  }

  /** Undoes every open transaction: a run that was given up half way. */
  abandon(): void {
    this.#undo(0)
    this.#marks.length = 0
  }

  #undo(mark: number): void {
    while (this.#log.length > mark) {
      const undo = this.#log.pop() as Undo
      if ('resolved' in undo) this.#resolved.delete(undo.resolved)
      else if (undo.before === undefined) this.#actors.delete(undo.id)
      else this.#actors.set(undo.id, undo.before)
    }
  }

  /**
   * Writes what changed into the tree.
   * @returns the new state root
   */
  flush(): Cid {
    for (const [id, entry] of this.#actors) {
      if (!entry.isDirty) continue
      const key = idAddress(id).bytes
      if (entry.actor === null) this.#tree.delete(key)
      else this.#tree.set(key, entry.actor)
    }
    const actors = this.#tree.flush()
    const root = putCbor(this.#store, stateRoot, { ...this.#root, actors })
    // Marked clean only now: a block that is missing on the way leaves everything to be written again.
    for (const [id, entry] of this.#actors) {
      if (entry.isDirty) this.#actors.set(id, { actor: entry.actor, isDirty: false })
    }
    return root
  }
}
