/**
 * The power actor's queue of miners that want to be called back: by epoch, in an AMT each.
 * @see builtin-actors v18 actors/power/src/state.rs CronEvent; runtime/src/util/multimap.rs
 */
import type { Cid } from '../../codec/cid.ts'
import { cid } from '../../codec/description.ts'
import { Amt } from '../../ipld/amt.ts'
import { type CronEvent, cronEvent } from '../../state/power.ts'
import { Exit } from '../../types/exitCodes.ts'
import type { ChainEpoch } from '../../types/scalars.ts'
import { ActorMap, orIllegalState } from '../actorMap.ts'
import { ActorError } from '../errors.ts'
import { signedKey } from '../mapKeys.ts'
import type { Runtime } from '../runtime.ts'

/** Bits per level of the outer HAMT and of the AMTs. */
export const CRON_QUEUE_HAMT_BIT_WIDTH = 6
export const CRON_QUEUE_AMT_BIT_WIDTH = 6

/** The queue; changes stay in memory until {@link CronEvents.flush}. */
export class CronEvents {
  readonly #runtime: Runtime
  readonly #map: ActorMap<Cid>

  constructor(runtime: Runtime, root: Cid) {
    this.#runtime = runtime
    this.#map = ActorMap.load(runtime, root, cid, CRON_QUEUE_HAMT_BIT_WIDTH)
  }

  #events(root: Cid): Amt<CronEvent> {
    return Amt.load(this.#runtime.store, root, cronEvent, { bitWidth: CRON_QUEUE_AMT_BIT_WIDTH })
  }

  add(epoch: ChainEpoch, event: CronEvent): void {
    const root = this.#map.get(signedKey(epoch))
    const next = orIllegalState(() => {
      const events =
        root === undefined
          ? Amt.empty(this.#runtime.store, cronEvent, { bitWidth: CRON_QUEUE_AMT_BIT_WIDTH })
          : this.#events(root)
      events.set(events.count, event)
      return events.flush()
    })
    this.#map.set(signedKey(epoch), next)
  }

  at(epoch: ChainEpoch): CronEvent[] {
    const root = this.#map.get(signedKey(epoch))
    return root === undefined ? [] : orIllegalState(() => this.#events(root).values())
  }

  removeAll(epoch: ChainEpoch): void {
    if (this.#map.delete(signedKey(epoch)) === undefined) {
      throw new ActorError(Exit.USR_ILLEGAL_STATE, `failed to clear cron events at ${epoch}`)
    }
  }

  flush(): Cid {
    return this.#map.flush()
  }
}
