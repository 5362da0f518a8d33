/**
 * Power of the whole network, out of the power actor.
 * @see lotus chain/actors/builtin/power TotalPower
 */
import { decode } from '../codec/description.ts'
import { type Blockstore, getBlock } from '../ipld/blockstore.ts'
import type { CodeLookup } from '../state/manifest.ts'
import { powerStateAt } from '../state/power.ts'
import type { StateTree } from '../state/stateTree.ts'
import { POWER_ID } from '../types/singletons.ts'
import { ChainError } from './errors.ts'

/** Bytes, raw and adjusted for quality. */
export interface NetworkPower {
  readonly raw: bigint
  readonly qualityAdjusted: bigint
}

/** @throws ChainError `ACTOR_NOT_FOUND`; BlockMissing */
export function networkPower(blocks: Blockstore, codes: CodeLookup, tree: StateTree): NetworkPower {
  const actor = tree.getActor(POWER_ID)
  if (actor === undefined) throw new ChainError('ACTOR_NOT_FOUND', 'get power actor: actor not found')
  const version = codes(actor.code)?.actorsVersion
  if (version === undefined) throw new ChainError('NOT_SUPPORTED', `not supported: power actor with code ${actor.code}`)
  const state = decode(powerStateAt(version), getBlock(blocks, actor.head))
  return { raw: state.totalRawBytePower, qualityAdjusted: state.totalQualityAdjPower }
}
