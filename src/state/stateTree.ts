/**
 * The state tree: actors by id.
 *
 * Root: [version, actors HAMT, info]; version 0 is the HAMT's root itself. Versions 0 and 1 have HAMTs with pointer
 * maps; from version 5 on an actor has five fields.
 * @see ref-fvm fvm/src/state_tree.rs StateTree; lotus chain/state/statetree.go
 */
import { Generations } from '../base/generations.ts'
import { CborReader } from '../codec/cborReader.ts'
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, decode, int, transparent, tuple, uint } from '../codec/description.ts'
import { type Blockstore, getBlock, getCbor, putBlock, putCbor } from '../ipld/blockstore.ts'
import { eachFound, type Found } from '../ipld/found.ts'
import { Hamt, hashesOf } from '../ipld/hamt.ts'
import { type ActorState, actorV4, actorV5 } from '../types/actor.ts'
import { type Address, actorKey, addressFromBytes, addressToId, idFromBytes, isIdAddress } from '../types/address.ts'
import type { ActorId } from '../types/scalars.ts'
import { INIT_ID } from '../types/singletons.ts'
import { StateError } from './errors.ts'
import { type InitState, initState } from './init.ts'

const MAX_VERSION = 5
const FIRST_VERSION_WITH_ADDRESS = 5
/** From this version on HAMT pointers are plain. */
const FIRST_PLAIN_VERSION = 2
/** CBOR of an empty array: the info block. */
const EMPTY_INFO = Uint8Array.of(0x80)

/**
 * Actors, and addresses, that a tree remembers beside what was written, of a generation: whoever reads all of a chain must not make it
 * hold all.
 */
const MAX_READ = 3000

/** The block that a state root names. */
export interface StateRoot {
  readonly version: number
  readonly actors: Cid
  readonly info: Cid
}

export const stateRoot: Codec<StateRoot> = tuple<StateRoot>('types.StateRoot', [
  ['version', 'Version', uint],
  ['actors', 'Actors', cid],
  ['info', 'Info', cid],
])

/** Go writes the ids in the address map as signed numbers. */
const idValue: Codec<ActorId> = transparent(int, BigInt, Number)

function readRoot(store: Blockstore, root: Cid): StateRoot {
  const data = getBlock(store, root)
  const fields = new CborReader(data).readArray()
  // A HAMT node, which is what a tree of version 0 starts with, has two.
  if (fields === 2) return { version: 0, actors: root, info: root }
  const value = decode(stateRoot, data)
  if (value.version < 1 || value.version > MAX_VERSION) {
    throw new StateError('INVALID_STATE_ROOT', `unsupported state tree version: ${value.version}`)
  }
  return value
}

/** A moment that {@link StateTree.rollback} can return to. */
export type StateMark = number

interface Undo {
  readonly id: ActorId
  /** What was written before; null: that there is none; undefined: nothing. */
  readonly actor: ActorState | null | undefined
}

/**
 * A state tree over a store. Reads are remembered; writes wait for {@link StateTree.flush}. `mark` and `rollback` cost
 * only what was written between them.
 */
export class StateTree {
  readonly version: number
  readonly #store: Blockstore
  readonly #info: Cid
  readonly #hamt: Hamt<ActorState>
  /** As the HAMT has them; null: known not to exist. */
  readonly #read = new Generations<ActorId, ActorState | null>(MAX_READ)
  /** What the HAMT does not have yet; null: to be deleted. */
  readonly #written = new Map<ActorId, ActorState | null>()
  #undo: Undo[] = []
  #root: Cid | undefined
  /** Address map of the init actor at this head. */
  #addressMap: Hamt<ActorId> | undefined
  #addressHead: Cid | undefined
  readonly #ids = new Generations<string, ActorId>(MAX_READ)

  private constructor(store: Blockstore, version: number, info: Cid, hamt: Hamt<ActorState>, root: Cid | undefined) {
    this.#store = store
    this.version = version
    this.#info = info
    this.#hamt = hamt
    this.#root = root
  }

  /**
   * The tree with this root.
   * @throws BlockMissing; StateError `INVALID_STATE_ROOT`; CodecError; IpldError
   */
  static load(store: Blockstore, root: Cid): StateTree {
    const { version, actors, info } = readRoot(store, root)
    const hamt = Hamt.load(store, actors, actorCodec(version), { pointerMaps: version < FIRST_PLAIN_VERSION })
    return new StateTree(store, version, info, hamt, root)
  }

  /** A tree without actors. */
  static create(store: Blockstore, version: number): StateTree {
    if (version < 0 || version > MAX_VERSION)
      throw new StateError('NOT_SUPPORTED', `not supported: state tree version ${version}`)
    const hamt = Hamt.empty(store, actorCodec(version), { pointerMaps: version < FIRST_PLAIN_VERSION })
    return new StateTree(store, version, putBlock(store, EMPTY_INFO), hamt, undefined)
  }

  /** The store that the tree reads from and writes to. */
  get store(): Blockstore {
    return this.#store
  }

  /** The actor with an id, any of 64 bits. The object is shared: it must not be changed. */
  getActor(id: ActorId): ActorState | undefined {
    let known = this.#written.get(id)
    if (known === undefined) known = this.#read.get(id)
    if (known !== undefined) return known ?? undefined
    const actor = this.#hamt.get(actorKey(id))
    this.#read.set(id, actor ?? null)
    return actor
  }

  setActor(id: ActorId, actor: ActorState): void {
    this.#write(id, actor)
  }

  deleteActor(id: ActorId): void {
    this.#write(id, null)
  }

  #write(id: ActorId, actor: ActorState | null): void {
    this.#undo.push({ id, actor: this.#written.get(id) })
    this.#written.set(id, actor)
    this.#root = undefined
  }

  /** The present moment, for {@link StateTree.rollback}. Marks end with a flush. */
  mark(): StateMark {
    return this.#undo.length
  }

  /**
   * Undoes every write after `mark`.
   * @throws StateError `WRONG_MARK` when the mark lies after the present or before a flush
   */
  rollback(mark: StateMark): void {
    if (mark > this.#undo.length) {
      throw new StateError('WRONG_MARK', `Cannot roll back: mark ${mark} is behind ${this.#undo.length}`)
    }
    while (this.#undo.length > mark) {
      const { id, actor } = this.#undo.pop() as Undo
      if (actor === undefined) this.#written.delete(id)
      else this.#written.set(id, actor)
    }
  }

  /** What was written up to now stays: earlier marks are no longer valid. */
  forgetMarks(): void {
    this.#undo.length = 0
  }

  #initState(): InitState {
    const actor = this.getActor(INIT_ID)
    if (actor === undefined)
      throw new StateError('ACTOR_NOT_FOUND', 'Cannot read the address map: there is no init actor')
    return getCbor(this.#store, initState, actor.head)
  }

  #addresses(): Hamt<ActorId> {
    const head = this.getActor(INIT_ID)?.head
    if (this.#addressMap === undefined || head === undefined || this.#addressHead?.equals(head) !== true) {
      this.#addressMap = this.#loadAddressMap(this.#initState())
      this.#addressHead = head
      this.#ids.clear()
    }
    return this.#addressMap
  }

  #loadAddressMap(state: InitState): Hamt<ActorId> {
    return Hamt.load(this.#store, state.addressMap, idValue, { pointerMaps: this.version < FIRST_PLAIN_VERSION })
  }

  /**
   * The id behind an address: an ID address' own, else the init actor's entry. Says nothing about whether the actor
   * exists.
   */
  lookupId(address: Address): ActorId | undefined {
    if (isIdAddress(address)) return addressToId(address)
    const addresses = this.#addresses()
    const known = this.#ids.get(address.key)
    if (known !== undefined) return known
    const id = addresses.get(address.bytes)
    if (id === undefined) return undefined
    this.#ids.set(address.key, id)
    return id
  }

  /**
   * Gives an address the next id. The machine does this itself when value is sent to an unknown key address.
   * @see ref-fvm fvm/src/state_tree.rs register_new_address
   */
  registerAddress(address: Address): ActorId {
    const actor = this.getActor(INIT_ID)
    if (actor === undefined)
      throw new StateError('ACTOR_NOT_FOUND', 'Cannot register an address: there is no init actor')
    const state = getCbor(this.#store, initState, actor.head)
    const map = this.#loadAddressMap(state)
    const id = state.nextId
    map.set(address.bytes, id)
    const head = putCbor(this.#store, initState, { ...state, addressMap: map.flush(), nextId: id + 1n })
    this.setActor(INIT_ID, { ...actor, head })
    return id
  }

  #apply(): void {
    for (const [id, actor] of this.#written) {
      const key = actorKey(id)
      if (actor === null) this.#hamt.delete(key)
      else this.#hamt.set(key, actor)
      this.#read.set(id, actor)
    }
    this.#written.clear()
    this.#undo = []
  }

  /** Writes what changed and returns the root. Earlier marks are no longer valid. */
  flush(): Cid {
    if (this.#root !== undefined && this.#written.size === 0) return this.#root
    this.#apply()
    const actors = this.#hamt.flush()
    this.#root =
      this.version === 0 ? actors : putCbor(this.#store, stateRoot, { version: this.version, actors, info: this.#info })
    return this.#root
  }

  /** Calls back for each actor in the HAMT's order. Ends marks, as a flush does. */
  forEach(visit: (id: ActorId, actor: ActorState) => void): void {
    this.#apply()
    this.#hamt.forEach((key, actor) => {
      visit(idFromBytes(key), actor)
    })
  }

  /** Actors in the HAMT's order. Ends marks, as a flush does. */
  found(): Found<readonly [ActorId, ActorState]> {
    this.#apply()
    return eachFound(this.#hamt.found(), ([key, actor]) => [idFromBytes(key), actor])
  }

  /** The ID addresses of all actors in the HAMT's order. Ends marks, as a flush does. */
  ids(): Found<Address> {
    this.#apply()
    return eachFound(this.#hamt.keys(), addressFromBytes)
  }

  /** Entries of the address map in its order: address and id. */
  *addresses(): IterableIterator<readonly [Address, ActorId]> {
    for (const [key, id] of this.#addresses().entries()) yield [addressFromBytes(key), id]
  }

  /** Those entries that an older state of the chain did not have, or had with another id. */
  *addressesSince(older: StateTree): IterableIterator<readonly [Address, ActorId]> {
    for (const change of older.#addresses().diff(this.#addresses())) {
      if (change?.[2] !== undefined) yield [addressFromBytes(change[0]), change[2]]
    }
  }

  /**
   * Actors that differ between this tree and another, both flushed: here and there; undefined where nothing was found yet.
   * @param among - {@link actorHashes} of those that matter; others may be told, too. Default: all
   * @see lotus chain/state/statetree.go Diff
   */
  *diff(
    other: StateTree,
    among?: readonly Uint8Array[],
  ): IterableIterator<readonly [ActorId, ActorState | undefined, ActorState | undefined] | undefined> {
    this.#apply()
    other.#apply()
    for (const change of this.#hamt.diff(other.#hamt, among)) {
      yield change === undefined ? undefined : [idFromBytes(change[0]), change[1], change[2]]
    }
  }
}

/** Where actors are in a tree, in its order. */
export function actorHashes(ids: readonly ActorId[]): Uint8Array[] {
  return hashesOf(ids.map((id) => actorKey(id)))
}

function actorCodec(version: number): Codec<ActorState> {
  return version >= FIRST_VERSION_WITH_ADDRESS ? actorV5 : actorV4
}
