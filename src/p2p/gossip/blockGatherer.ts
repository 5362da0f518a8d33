/**
 * Accepted blocks on their way to the syncer: their messages are gathered, so many blocks at a time, each as long as
 * messages of it keep coming. In the queue the oldest gives way, and to those who wait whoever takes longest; nobody, sender
 * or miner, takes more than a share.
 */

import { errorMessage } from '../../base/errors.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import { abortable, whenAborted } from '../../base/waiting.ts'
import { headerCid } from '../../types/blockHeader.ts'
import type { PeerName } from '../peerLinks.ts'
import type { BlockMsg, FullBlock } from './blockMsg.ts'
import { GossipError } from './errors.ts'
import { type GatherDeps, gatherMessages } from './gatherMessages.ts'
import { GATHER_RUNNING, GATHER_RUNNING_PER_MINER, GATHER_WAITING, GATHER_WAITING_PER_PEER } from './limits.ts'

/** Where messages come from, how long they may take, and who takes whole blocks. */
export interface BlockGathererDeps extends GatherDeps {
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** A block of which no message came for so long is given up, ms. */
  readonly patienceMs: number
  /** Takes a whole block. What it throws is logged. */
  readonly onWhole: (from: PeerName, block: FullBlock) => void
}

interface Waiting {
  readonly from: PeerName
  readonly block: BlockMsg
}

/** A block that is being gathered. */
interface Running {
  readonly sinceMs: number
  readonly giveUp: (why: string) => void
}

/** The queue of accepted blocks whose messages are still to come. */
export class BlockGatherer {
  readonly #deps: BlockGathererDeps
  readonly #stop = new AbortController()
  readonly #runningOf = new Map<string, number>()
  readonly #running = new Set<Running>()
  #waiting: Waiting[] = []
  #dropped = 0

  constructor(deps: BlockGathererDeps) {
    this.#deps = deps
  }

  get running(): number {
    return this.#running.size
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Blocks given up for lack of room or time, or because their messages were not to be had. */
  get dropped(): number {
    return this.#dropped
  }

  /** @param from - who brought it */
  add(from: PeerName, block: BlockMsg): void {
    if (this.#stop.signal.aborted) return
    this.#makeRoom(from)
    this.#waiting.push({ from, block })
    this.#start()
    if (this.#waiting.length > 0) this.#endSlowest()
  }

  /** Ends what is under way; nothing is told any more. */
  stop(): void {
    this.#waiting = []
    this.#stop.abort(new GossipError('MESSAGES_MISSING', 'gossip is stopped'))
  }

  #makeRoom(from: PeerName): void {
    const ofPeer = this.#waiting.filter((waiter) => waiter.from === from).length
    const isFull = this.#waiting.length >= GATHER_WAITING
    const oldest =
      ofPeer >= GATHER_WAITING_PER_PEER ? this.#waiting.findIndex((waiter) => waiter.from === from) : isFull ? 0 : -1
    if (oldest < 0) return
    this.#waiting.splice(oldest, 1)
    this.#dropped++
  }

  #start(): void {
    while (this.#running.size < GATHER_RUNNING) {
      const at = this.#waiting.findIndex(
        (waiter) => (this.#runningOf.get(minerOf(waiter)) ?? 0) < GATHER_RUNNING_PER_MINER,
      )
      const next = this.#waiting[at]
      if (next === undefined) return
      this.#waiting.splice(at, 1)
      void this.#gather(next)
    }
  }

  /** Others wait: whoever has had its time, and takes longest, gives way. */
  #endSlowest(): void {
    if (this.#running.size < GATHER_RUNNING) return
    const [slowest] = this.#running
    if (slowest === undefined || this.#deps.clock.monotonicMs() - slowest.sinceMs < this.#deps.patienceMs) return
    slowest.giveUp('others wait')
  }

  async #gather(next: Waiting): Promise<void> {
    const { clock, timers, log, onWhole, patienceMs } = this.#deps
    const { block, from } = next
    const control = new AbortController()
    const giveUp = (why: string): void => control.abort(new GossipError('MESSAGES_MISSING', why))
    const stop = whenAborted(this.#stop.signal, () => giveUp('gossip is stopped'))
    let cancel = (): void => undefined
    const wait = (): void => {
      cancel()
      cancel = timers.setTimeout(() => giveUp(`none of its messages came for ${patienceMs} ms`), patienceMs)
    }
    wait()
    const running = { sinceMs: clock.monotonicMs(), giveUp }
    this.#count(next, running, 1)
    try {
      const messages = await abortable(gatherMessages(block, this.#deps, control.signal, wait), control.signal)
      if (!this.#stop.signal.aborted) onWhole(from, { header: block.header, messages })
    } catch (error) {
      this.#dropped++
      const cid = headerCid(block.header).toString()
      if (!this.#stop.signal.aborted) log.warn('gossip: block given up', { cid, from, error: errorMessage(error) })
    } finally {
      cancel()
      stop()
      this.#count(next, running, -1)
      this.#start()
    }
  }

  #count(waiter: Waiting, running: Running, by: 1 | -1): void {
    const miner = minerOf(waiter)
    const count = (this.#runningOf.get(miner) ?? 0) + by
    if (count === 0) this.#runningOf.delete(miner)
    else this.#runningOf.set(miner, count)
    if (by === 1) this.#running.add(running)
    else this.#running.delete(running)
  }
}

function minerOf({ block }: Waiting): string {
  return block.header.miner.key
}
