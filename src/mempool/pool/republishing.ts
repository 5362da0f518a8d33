/** Our own messages are sent again until they are in a block. @see lotus chain/messagepool/repub.go */
import { errorMessage } from '../../base/errors.ts'
import { type ChainMessage, chainMessageCid } from '../../types/chainMessage.ts'
import { createChains } from '../createChains.ts'
import { feeCapLowerBound } from '../fees.ts'
import { REPUBLISH_SPACING_MS } from '../limits.ts'
import { chooseRepublished } from '../republish.ts'
import { KEEP_BASE_FEE_DIVISOR } from '../rules.ts'
import type { PoolState } from './poolState.ts'

/** Republishes for one pool. */
export class Republishing {
  readonly #state: PoolState
  /** CIDs of the last round. */
  #sent: ReadonlySet<string> = new Set()

  constructor(state: PoolState) {
    this.#state = state
  }

  /** A round every interval, until the pool is closed. */
  schedule(): void {
    const { timers, options } = this.#state
    if (timers.closed) return
    timers.after(options.republishIntervalMs, () => {
      this.soon()
      this.schedule()
    })
  }

  /** A round that nobody waits for. */
  soon(): void {
    void this.republish().catch((error: unknown) => {
      this.#state.deps.logger.warn('mempool: republishing failed', { error: errorMessage(error) })
    })
  }

  /** Whether a message was sent in the last round. */
  has(message: ChainMessage): boolean {
    return this.#sent.size > 0 && this.#sent.has(chainMessageCid(message).key)
  }

  /** The last round counts no more. */
  forget(): void {
    this.#sent = new Set()
  }

  /** Sends our best messages to the network again. */
  async republish(): Promise<void> {
    const { tipset, pending, timers, deps } = this.#state
    const { chain, minimumGas } = deps
    this.forget()
    const actors = await chain.stateAfter(tipset)
    const baseFee = feeCapLowerBound(chain.computeBaseFee(tipset), KEEP_BASE_FEE_DIVISOR)
    const chains = []
    for (const sender of pending.locals()) {
      const set = pending.of(sender)
      if (set === undefined) continue
      const conditions = { actor: actors.actor(sender), baseFee, epoch: tipset.height, minimumGas }
      for (const chain of createChains(set.toSorted(), conditions)) chains.push(chain)
    }
    const sent = new Set<string>()
    for (const pooled of chooseRepublished(chains, baseFee)) {
      if (sent.size > 0) await timers.pause(REPUBLISH_SPACING_MS)
      if (timers.closed) return
      if (!(await this.#state.publish(pooled))) break
      sent.add(pooled.cid.key)
    }
    this.#sent = sent
  }
}
