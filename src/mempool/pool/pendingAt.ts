/** What was pending at another tipset than the pool's own. */
import { type SignedMessage, signedMessageCid } from '../../types/signedMessage.ts'
import { equalTipsetKeys, firstBlock, type Tipset } from '../../types/tipset.ts'
import type { PoolState } from './poolState.ts'

/**
 * The messages that were pending when `tipset` was the head, as far as the pool can tell.
 * @see lotus node/impl/full/mpool.go MpoolPending
 */
export function pendingAt(state: PoolState, tipset: Tipset): SignedMessage[] {
  const result = [...state.pending.all()]
  if (state.tipset.height > tipset.height) return result
  const seen = new Set(result.map((signed) => signedMessageCid(signed).key))
  for (let at = tipset; ; at = state.deps.chain.loadTipset(firstBlock(at).parents)) {
    if (state.tipset.height === at.height) {
      if (equalTipsetKeys(state.tipset.key, at.key)) return result
      // other blocks of the same epoch: what ours hold is not pending there either
      for (const signed of state.messagesOf(state.tipset)) seen.add(signedMessageCid(signed).key)
    }
    for (const signed of state.messagesOf(at)) {
      const { key } = signedMessageCid(signed)
      if (seen.has(key)) continue
      seen.add(key)
      result.push(signed)
    }
    if (state.tipset.height >= at.height) return result
  }
}
