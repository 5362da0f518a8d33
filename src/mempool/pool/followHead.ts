/** When the head moves, applied nonces leave the pool and messages of reverted tipsets return. */

import { errorMessage, unlessThrown } from '../../base/errors.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import type { Address } from '../../types/address.ts'
import type { SignedMessage } from '../../types/signedMessage.ts'
import { firstBlock, type Tipset } from '../../types/tipset.ts'
import { MempoolError } from '../errors.ts'
import { createPooledMessage } from '../pooledMessage.ts'
import { reorgMessages } from '../reorgMessages.ts'
import type { PoolState } from './poolState.ts'
import type { Republishing } from './republishing.ts'

/**
 * Moves a pool to a new head; never throws: the chain moves on whatever becomes of the pool.
 * @see lotus chain/messagepool/messagepool.go HeadChange
 */
export function followHead(
  state: PoolState,
  republishing: Republishing,
  reverted: readonly Tipset[],
  applied: readonly Tipset[],
): void {
  const last = applied[applied.length - 1]
  const oldestReverted = reverted[reverted.length - 1]
  const { pending, reserved, signatures } = state
  const { chain, logger } = state.deps
  try {
    // All messages of a tipset are read for what they take out: of an empty pool, nothing.
    const isEmpty = reverted.length === 0 && pending.size === 0 && !reserved.hasAny
    const change = reorgMessages({ reverted, applied: isEmpty ? [] : applied }, chain, signatures, (error) =>
      logger.error('mempool: messages of a block cannot be read', { error: errorMessage(error) }),
    )
    if (last !== undefined) state.tipset = last
    else if (oldestReverted !== undefined) state.tipset = chain.loadTipset(firstBlock(oldestReverted).parents)
    let early = false
    for (const sent of change.applied) {
      const { from, nonce } = sent.message
      const sender = senderHere(state, from)
      if (sender !== undefined) {
        pending.remove(sender, nonce, true)
        reserved.of(sender)?.remove(nonce, true)
      }
      early ||= republishing.has(sent)
    }
    for (const signed of change.returned) putBack(state, signed)
    if (early) republishing.soon()
  } catch (error) {
    // the next change starts from the new head
    if (last !== undefined) state.tipset = last
    logger.error('mempool: head change failed', { error: errorMessage(error) })
  }
}

/** undefined also where the state that knows it could not be fetched: the pool follows the head all the same. */
function senderHere({ senders, tipset }: PoolState, from: Address): Address | undefined {
  return unlessThrown(() => senders.tryResolve(from, tipset), BlockMissing)
}

/** A message of a reverted tipset returns unchecked: it was valid where it stood. */
function putBack(state: PoolState, signed: SignedMessage): void {
  const { from } = signed.message
  const sender = senderHere(state, from)
  if (sender === undefined) return
  const initial = (): bigint => {
    try {
      return state.nonces.next(from, state.tipset)
    } catch (error) {
      // the reorg took the sender itself away; it may come back
      if (error instanceof MempoolError) return 0n
      throw error
    }
  }
  const name = from.toString(state.options.addressPrefix)
  // One of a thousand must not be left out: all others would wait for it.
  const placement = { strict: false, untrusted: false, sender: name, returns: true }
  try {
    state.place(sender, createPooledMessage(signed), placement, initial)
  } catch (error) {
    if (!(error instanceof MempoolError)) throw error
    state.deps.logger.warn('mempool: message of a reverted tipset not put back', { error: error.message })
  }
}
