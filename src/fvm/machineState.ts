import type { Cid } from '../codec/cid.ts'
import { CodecError } from '../codec/errors.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { BlockMissing, IpldError } from '../ipld/errors.ts'
import { StateError } from '../state/errors.ts'
import { type StateMark, StateTree } from '../state/stateTree.ts'
import type { ActorState } from '../types/actor.ts'
import type { Address } from '../types/address.ts'
import type { ActorId } from '../types/scalars.ts'
import { VmError } from './errors.ts'
import { FatalError } from './kernel/outcomes.ts'

/** Layouts of the tree that the machine knows: actors without, and with, a delegated address. */
const TREE_V4 = 4
const TREE_V5 = 5

/** An init actor whose state is not one is fatal, as in the reference; a missing block is the host's matter. */
function readingInit<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    const isMalformed = cause instanceof CodecError || cause instanceof StateError || cause instanceof IpldError
    if (!isMalformed || cause instanceof BlockMissing) throw cause
    throw new FatalError(`init actor state is malformed: ${cause.message}`, { cause })
  }
}

/**
 * The state tree as the machine uses it during a run: with nested transactions, and with the reference's outcomes where the
 * init actor's state is broken. Nothing reaches the tree before {@link MachineState.flush}.
 * @see ref-fvm fvm/src/state_tree.rs StateTree
 */
export class MachineState {
  readonly #tree: StateTree
  readonly #marks: StateMark[] = []

  /** @throws BlockMissing; VmError `INVALID_STATE` for a tree of another version than 4 or 5 */
  constructor(store: Blockstore, root: Cid) {
    this.#tree = StateTree.load(store, root)
    const { version } = this.#tree
    if (version !== TREE_V4 && version !== TREE_V5) {
      throw new VmError('INVALID_STATE', `not supported: state tree version ${version}, expected 4 or 5`)
    }
  }

  /** Layout of the tree: 4, or 5 with delegated addresses. */
  get version(): number {
    return this.#tree.version
  }

  getActor(id: ActorId): ActorState | undefined {
    return this.#tree.getActor(id)
  }

  setActor(id: ActorId, actor: ActorState): void {
    this.#tree.setActor(id, actor)
  }

  deleteActor(id: ActorId): void {
    this.#tree.deleteActor(id)
  }

  /** The ID that the init actor has for an address; f0 addresses are themselves. */
  lookupId(address: Address): ActorId | undefined {
    return readingInit(() => this.#tree.lookupId(address))
  }

  /** Gives an address the next free ID. */
  registerAddress(address: Address): ActorId {
    return readingInit(() => this.#tree.registerAddress(address))
  }

  /** Begins a transaction; they nest. */
  begin(): void {
    this.#marks.push(this.#tree.mark())
  }

  /** Ends the innermost transaction. */
  end(revert: boolean): void {
    const mark = this.#marks.pop()
    if (mark === undefined) throw new VmError('INVALID_STATE', 'Cannot end a transaction: none was begun')
    if (revert) this.#tree.rollback(mark)
    // Of a full tipset ten thousand writes would be kept until its end.
    if (this.#marks.length === 0) this.#tree.forgetMarks()
  }

  /** Undoes every open transaction: a run that was given up half way. */
  abandon(): void {
    const [first] = this.#marks
    if (first !== undefined) this.#tree.rollback(first)
    this.#marks.length = 0
  }

  /**
   * Writes what changed into the tree.
   * @returns the new state root
   */
  flush(): Cid {
    return this.#tree.flush()
  }
}
