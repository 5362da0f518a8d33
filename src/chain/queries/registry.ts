/**
 * Allocations and claims of the verified registry; from actors version 9.
 * @see go-state-types builtin/v18/verifreg/verified_registry_state.go; lotus node/impl/full/state.go StateGetAllocations
 */
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid } from '../../codec/description.ts'
import { readVarint, varintBytes } from '../../codec/varint.ts'
import type { Blockstore } from '../../ipld/blockstore.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { eachFound, type Found, reading } from '../../ipld/found.ts'
import { Hamt } from '../../ipld/hamt.ts'
import { type WalkBudget, walkBudget } from '../../ipld/nodeCache.ts'
import type { StateTree } from '../../state/stateTree.ts'
import { type Allocation, allocation, type VerifregClaim, verifregClaim } from '../../state/verifreg.ts'
import type { ActorId } from '../../types/scalars.ts'
import type { ChainView } from '../chainView.ts'
import { ChainError } from '../errors.ts'
import { registryState } from './dataCap.ts'

const FIRST_ALLOCATIONS = 9

/** A map of maps: by actor, then by number; keys are varints. */
class ByActor<T> {
  readonly #store: Blockstore
  readonly #outer: Hamt<Cid>
  readonly #codec: Codec<T>

  constructor(store: Blockstore, root: Cid, codec: Codec<T>) {
    this.#store = store
    this.#outer = Hamt.load(store, root, cid)
    this.#codec = codec
  }

  #inner(actor: ActorId): Hamt<T> | undefined {
    const root = this.#outer.get(varintBytes(actor))
    return root === undefined ? undefined : this.#load(root)
  }

  get(actor: ActorId, number: number): T | undefined {
    return this.#inner(actor)?.get(varintBytes(number))
  }

  /** One actor's, with their numbers, in the order of the map. */
  *of(actor: ActorId): Found<readonly [number, T]> {
    const inner = yield* reading(() => this.#inner(actor))
    if (inner !== undefined) yield* numbered(inner)
  }

  /** Of all actors. Most of their trees are small enough for a walk's budget: each with its own would keep nearly all of them. */
  *all(): Found<readonly [number, T]> {
    const budget = walkBudget()
    for (const inner of eachFound(this.#outer.found(), ([, root]) => this.#load(root, budget))) {
      if (inner instanceof BlockMissing) yield inner
      else yield* numbered(inner)
    }
  }

  #load(root: Cid, budget?: WalkBudget): Hamt<T> {
    return Hamt.load(this.#store, root, this.#codec, budget === undefined ? {} : { budget })
  }
}

function numbered<T>(map: Hamt<T>): Found<readonly [number, T]> {
  return eachFound(map.found(), ([key, value]) => [readVarint(key, 0).value, value])
}

function supported(view: ChainView, tree: StateTree): { allocations: Cid; claims: Cid } {
  const { state, version } = registryState(view, tree)
  if (version < FIRST_ALLOCATIONS) throw new ChainError('NOT_SUPPORTED', `unsupported in actors v${version}`)
  return state
}

/** Allocations by client. @throws ChainError `NOT_SUPPORTED` before version 9 */
export function allocations(view: ChainView, tree: StateTree): ByActor<Allocation> {
  return new ByActor(view.store.blocks, supported(view, tree).allocations, allocation)
}

/** Claims by provider. @throws ChainError `NOT_SUPPORTED` before version 9 */
export function claims(view: ChainView, tree: StateTree): ByActor<VerifregClaim> {
  return new ByActor(view.store.blocks, supported(view, tree).claims, verifregClaim)
}
