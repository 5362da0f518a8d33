/**
 * Data cap of verifiers and clients.
 * @see lotus node/impl/full/state.go StateVerifierStatus, StateVerifiedClientStatus; chain/actors/builtin/datacap/util.go
 */
import { varintBytes } from '../../codec/varint.ts'
import { getCbor } from '../../ipld/blockstore.ts'
import { Hamt } from '../../ipld/hamt.ts'
import { datacapState } from '../../state/datacap.ts'
import { type StoragePower, storagePower } from '../../state/scalars.ts'
import type { StateTree } from '../../state/stateTree.ts'
import { type VerifregState, verifregStateAt } from '../../state/verifreg.ts'
import { idAddress } from '../../types/address.ts'
import { type ActorId, ATTO_PER_FIL } from '../../types/scalars.ts'
import { DATACAP_ID, VERIFREG_ID } from '../../types/singletons.ts'
import type { ChainView } from '../chainView.ts'
import { ChainError } from '../errors.ts'

const FIRST_V3_TREES = 3
/** From this version on an actor of its own keeps the clients' data cap, as a token with 18 decimals. */
const FIRST_DATACAP_ACTOR = 9

/** State of the verified registry and its actors version. */
export interface RegistryState {
  readonly state: VerifregState
  readonly version: number
}

/** @throws ChainError `ACTOR_NOT_FOUND`, `NOT_SUPPORTED` */
export function registryState(view: ChainView, tree: StateTree): RegistryState {
  const actor = tree.getActor(VERIFREG_ID)
  if (actor === undefined) throw new ChainError('ACTOR_NOT_FOUND', 'actor not found')
  const version = view.codes(actor.code)?.actorsVersion
  if (version === undefined) throw new ChainError('NOT_SUPPORTED', `not supported: registry with code ${actor.code}`)
  return { state: getCbor(view.store.blocks, verifregStateAt(version), actor.head), version }
}

/** What a verifier may still give, bytes; undefined for who is none. */
export function verifierDataCap(view: ChainView, tree: StateTree, id: ActorId): StoragePower | undefined {
  const { state, version } = registryState(view, tree)
  const options = { pointerMaps: version < FIRST_V3_TREES }
  return Hamt.load(view.store.blocks, state.verifiers, storagePower, options).get(idAddress(id).bytes)
}

/** What a client has, bytes; undefined for who has none. */
export function clientDataCap(view: ChainView, tree: StateTree, id: ActorId): StoragePower | undefined {
  const { blocks } = view.store
  const { state, version } = registryState(view, tree)
  if (version < FIRST_DATACAP_ACTOR) {
    if (state.verifiedClients === undefined) return undefined
    const options = { pointerMaps: version < FIRST_V3_TREES }
    return Hamt.load(blocks, state.verifiedClients, storagePower, options).get(idAddress(id).bytes)
  }
  const actor = tree.getActor(DATACAP_ID)
  if (actor === undefined) throw new ChainError('ACTOR_NOT_FOUND', 'actor not found')
  const { token } = getCbor(blocks, datacapState, actor.head)
  const balance = Hamt.load(blocks, token.balances, storagePower, { bitWidth: token.hamtBitWidth }).get(varintBytes(id))
  return balance === undefined ? undefined : balance / ATTO_PER_FIL
}
