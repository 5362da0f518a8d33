/** A block that is wanted, whoever wants it: whom it was asked of, and what they said. */
import type { Cid } from '../../codec/cid.ts'
import type { PeerName } from '../peerLinks.ts'
import { HAVE_FANOUT } from './limits.ts'

/** What a peer was asked about the block, and answered; `not awaited`: asked, though it never says anything. */
export type Asked = 'block asked' | 'have asked' | 'not awaited' | 'has it' | 'has it not'

/** One wanted block; shared by all callers that want it. */
export class WantedBlock {
  readonly cid: Cid
  readonly asked: Map<PeerName, Asked> = new Map<PeerName, Asked>()
  /** How many of those who were not asked yet are asked next. */
  fanout: number = HAVE_FANOUT
  /** Rounds of asking everybody that ended with nobody having it. */
  rounds = 0
  /** Everybody is asked again soon. */
  pausing = false
  /** Asked for so long ago that the next caller asks anew: callers that overlap would wait for one silent peer for ever. */
  isOld = false
  /** Callers that wait; none left: nobody wants it any more. */
  waiting = 0
  readonly settled: Promise<Uint8Array | undefined>
  #settle: (data: Uint8Array | undefined) => void = () => undefined
  #done = false

  constructor(cid: Cid) {
    this.cid = cid
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** As if nobody had been asked. */
  askAnew(): void {
    this.asked.clear()
    this.fanout = HAVE_FANOUT
  }

  get done(): boolean {
    return this.#done
  }

  /** @param data - undefined: nobody has it */
  settle(data: Uint8Array | undefined): void {
    this.#done = true
    this.#settle(data)
  }

  /** Whether some peer was asked for the block itself and has not said no. */
  get underWay(): boolean {
    for (const state of this.asked.values()) if (state === 'block asked') return true
    return false
  }

  /** Whether some peer that is waited for may still say that it has the block. */
  get open(): boolean {
    for (const state of this.asked.values()) if (state !== 'has it not' && state !== 'not awaited') return true
    return false
  }
}
