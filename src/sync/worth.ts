/** Which targets can become the head. */

import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { networkPower } from '../chain/networkPower.ts'
import { tipsetWeight } from '../chain/weight.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { firstBlock, type Tipset } from '../types/tipset.ts'

/**
 * Whether a tipset may be heavier than the head: its parents are no lighter than the head's, as in Lotus, or its own weight
 * seems no smaller, reckoned with the power that the head knows. With the first rule alone two heads, the heavier on the
 * lighter parents, would stand beside each other until the next block.
 * @see lotus chain/sync.go InformNewHead
 */
export function mayWin(view: ChainView, tipset: Tipset): boolean {
  const head = view.store.head()
  if (firstBlock(tipset).parentWeight >= firstBlock(head).parentWeight) return true
  try {
    const power = networkPower(view.store.blocks, view.codes, view.stateBefore(head)).qualityAdjusted
    return tipsetWeight(tipset, power) >= tipsetWeight(head, power)
  } catch (error) {
    if (error instanceof BlockMissing || error instanceof ChainError) return false
    throw error
  }
}
