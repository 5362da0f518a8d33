/** Above its bounds the pool gives up what pays least. @see lotus chain/messagepool/pruning.go */
import { errorMessage } from '../../base/errors.ts'
import type { Tipset } from '../../types/tipset.ts'
import { feeCapLowerBound } from '../fees.ts'
import { POOL_BYTES_LOW } from '../limits.ts'
import type { ActorReader } from '../ports.ts'
import { choosePruned } from '../prune.ts'
import { KEEP_BASE_FEE_DIVISOR } from '../rules.ts'
import type { PoolState } from './poolState.ts'

/** Prunes one pool, with a cooldown. */
export class Pruning {
  readonly #state: PoolState
  #allowedAtMs = 0

  constructor(state: PoolState) {
    this.#state = state
  }

  /** In a later turn, unless it was done a short while ago. */
  soon(): void {
    const state = this.#state
    const { clock, logger } = state.deps
    if (clock.monotonicMs() < this.#allowedAtMs) return
    this.#allowedAtMs = clock.monotonicMs() + state.config.pruneCooldownNs / 1e6
    void state
      .stateAfterHead()
      .then((actors) => this.prune(actors, state.tipset))
      .catch((error: unknown) => {
        logger.warn('mempool: pruning failed', { error: errorMessage(error) })
      })
  }

  /** At once, cooldown or not. @param actors - the state after `tipset` */
  prune(actors: ActorReader, tipset: Tipset): void {
    const { pending, senders, config, deps } = this.#state
    const priority = new Set<string>()
    for (const address of config.priorityAddrs) {
      const sender = senders.tryResolve(address, this.#state.tipset)
      if (sender !== undefined) priority.add(sender.key)
    }
    const baseFee = feeCapLowerBound(deps.chain.computeBaseFee(tipset), KEEP_BASE_FEE_DIVISOR)
    const pruned = choosePruned(
      pending.senders(),
      (sender) => priority.has(sender.key) || pending.isLocal(sender),
      actors,
      { baseFee, epoch: tipset.height, minimumGas: deps.minimumGas },
      { messages: config.sizeLimitLow, bytes: POOL_BYTES_LOW },
    )
    for (const { sender, nonce } of pruned) pending.remove(sender, nonce, false)
  }
}
