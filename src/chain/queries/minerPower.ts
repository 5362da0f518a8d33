/**
 * Power of miners, and who may produce blocks.
 * @see lotus chain/stmgr/actors.go GetPowerRaw, MinerEligibleToMine; go-state-types builtin/v18/power/power_state.go
 */
import { getCbor } from '../../ipld/blockstore.ts'
import { eachFound, type Found, reading } from '../../ipld/found.ts'
import { Hamt } from '../../ipld/hamt.ts'
import { type PowerClaim, type PowerState, powerClaimAt, powerStateAt } from '../../state/power.ts'
import type { StateTree } from '../../state/stateTree.ts'
import { type Address, addressFromBytes, idAddress } from '../../types/address.ts'
import { POWER_ID } from '../../types/singletons.ts'
import { type ChainView, resolveId } from '../chainView.ts'
import { ChainError } from '../errors.ts'

/** While fewer miners than this have the least power, any power is enough. */
const MIN_MINERS = 4
const FIRST_V3_TREES = 3

/** Raw and quality-adjusted bytes. */
export interface Power {
  readonly rawBytePower: bigint
  readonly qualityAdjPower: bigint
}

/** A miner's power beside the network's. */
export interface MinerPower {
  readonly minerPower: Power
  readonly totalPower: Power
  /** Whether the power actor knows the miner at all. */
  readonly hasClaim: boolean
  /** Whether it is enough to produce blocks. */
  readonly hasMinPower: boolean
}

const NO_POWER: Power = { rawBytePower: 0n, qualityAdjPower: 0n }

interface PowerActor {
  readonly state: PowerState
  readonly claims: Hamt<PowerClaim>
}

function loadPower(view: ChainView, tree: StateTree): PowerActor {
  const actor = tree.getActor(POWER_ID)
  if (actor === undefined) throw new ChainError('ACTOR_NOT_FOUND', 'failed to load power actor: actor not found')
  const version = view.codes(actor.code)?.actorsVersion
  if (version === undefined) throw new ChainError('NOT_SUPPORTED', `not supported: power actor with code ${actor.code}`)
  const { blocks } = view.store
  const state = getCbor(blocks, powerStateAt(version), actor.head)
  const claims = Hamt.load(blocks, state.claims, powerClaimAt(version), { pointerMaps: version < FIRST_V3_TREES })
  return { state, claims }
}

/** Claims are kept by ID address. */
function claimOf(tree: StateTree, power: PowerActor, miner: Address): PowerClaim | undefined {
  const id = resolveId(tree, miner)
  return id === undefined ? undefined : power.claims.get(idAddress(id).bytes)
}

function meetsMinimum(view: ChainView, state: PowerState, claim: PowerClaim): boolean {
  if (claim.rawBytePower >= view.network.protocol.consensusMinerMinPowerBytes) return true
  return state.minerAboveMinPowerCount < MIN_MINERS && claim.rawBytePower > 0n
}

/** @param miner - the undefined address asks for the network alone */
export function minerPower(view: ChainView, tree: StateTree, miner: Address): MinerPower {
  const power = loadPower(view, tree)
  const { totalRawBytePower, totalQualityAdjPower } = power.state
  const totalPower = { rawBytePower: totalRawBytePower, qualityAdjPower: totalQualityAdjPower }
  const claim = claimOf(tree, power, miner)
  if (claim === undefined) return { minerPower: NO_POWER, totalPower, hasClaim: false, hasMinPower: false }
  return { minerPower: claim, totalPower, hasClaim: true, hasMinPower: meetsMinimum(view, power.state, claim) }
}

/** All miners with a claim, in the order of the power actor's map. */
export function* listMiners(view: ChainView, tree: StateTree): Found<Address> {
  const { claims } = yield* reading(() => loadPower(view, tree))
  yield* eachFound(claims.keys(), addressFromBytes)
}

/** Every miner whose power is enough to produce blocks. @see lotus chain/actors/builtin/power CollectEligibleClaims */
export function eligibleClaims(view: ChainView, tree: StateTree): { readonly miner: Address; readonly power: Power }[] {
  const out: { miner: Address; power: Power }[] = []
  const { claims, state } = loadPower(view, tree)
  claims.forEach((key, claim) => {
    if (meetsMinimum(view, state, claim)) out.push({ miner: addressFromBytes(key), power: claim })
  })
  return out
}
