/**
 * Accepted blocks on their way to the syncer: their messages are gathered, so many blocks at a time. In the queue the
 * oldest gives way; nobody, sender or miner, takes more than a share.
 */
import { errorMessage } from '../../base/errors.ts'
import type { Clock, Logger, Timers } from '../../base/ports.ts'
import { headerCid } from '../../types/blockHeader.ts'
import type { PeerName } from '../peerLinks.ts'
import type { BlockMsg, FullBlock } from './blockMsg.ts'
import { GossipError } from './errors.ts'
import { type GatherDeps, gatherMessages } from './gatherMessages.ts'
import { GATHER_RUNNING, GATHER_RUNNING_PER_MINER, GATHER_WAITING, GATHER_WAITING_PER_PEER } from './limits.ts'
import { withTimeout } from './withTimeout.ts'

export interface BlockGathererDeps extends GatherDeps {
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** A block that is not whole after this time is given up, ms. */
  readonly timeLimitMs: number
  /** Takes a whole block. What it throws is logged. */
  readonly onWhole: (from: PeerName, block: FullBlock) => void
}

interface Waiting {
  readonly from: PeerName
  readonly block: BlockMsg
  readonly untilMs: number
}

/** See the file's comment. */
export class BlockGatherer {
  readonly #deps: BlockGathererDeps
  readonly #stop = new AbortController()
  readonly #runningOf = new Map<string, number>()
  #waiting: Waiting[] = []
  #running = 0
  #dropped = 0

  constructor(deps: BlockGathererDeps) {
    this.#deps = deps
  }

  get running(): number {
    return this.#running
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
    const { clock, timeLimitMs } = this.#deps
    this.#makeRoom(from)
    this.#waiting.push({ from, block, untilMs: clock.monotonicMs() + timeLimitMs })
    this.#start()
  }

  /** Ends what is under way; nothing is told any more. */
  stop(): void {
    this.#waiting = []
    this.#stop.abort(new GossipError('MESSAGES_MISSING', 'gossip is stopped'))
  }

  #makeRoom(from: PeerName): void {
    const ofPeer = this.#waiting.filter((one) => one.from === from).length
    const isFull = this.#waiting.length >= GATHER_WAITING
    const oldest =
      ofPeer >= GATHER_WAITING_PER_PEER ? this.#waiting.findIndex((one) => one.from === from) : isFull ? 0 : -1
    if (oldest < 0) return
    this.#waiting.splice(oldest, 1)
    this.#dropped++
  }

  #start(): void {
    while (this.#running < GATHER_RUNNING) {
      const at = this.#waiting.findIndex((one) => (this.#runningOf.get(minerOf(one)) ?? 0) < GATHER_RUNNING_PER_MINER)
      const next = this.#waiting[at]
      if (next === undefined) return
      this.#waiting.splice(at, 1)
      void this.#gather(next)
    }
  }

  async #gather(next: Waiting): Promise<void> {
    const { clock, timers, log, onWhole } = this.#deps
    const { block, from, untilMs } = next
    this.#count(next, 1)
    try {
      const ms = Math.max(0, untilMs - clock.monotonicMs())
      const run = (signal: AbortSignal): ReturnType<typeof gatherMessages> => gatherMessages(block, this.#deps, signal)
      const messages = await withTimeout(timers, ms, run, this.#stop.signal)
      if (!this.#stop.signal.aborted) onWhole(from, { header: block.header, messages })
    } catch (error) {
      this.#dropped++
      const cid = headerCid(block.header).toString()
      if (!this.#stop.signal.aborted) log.warn('gossip: block given up', { cid, from, error: errorMessage(error) })
    } finally {
      this.#count(next, -1)
      this.#start()
    }
  }

  #count(one: Waiting, by: 1 | -1): void {
    const miner = minerOf(one)
    const count = (this.#runningOf.get(miner) ?? 0) + by
    if (count === 0) this.#runningOf.delete(miner)
    else this.#runningOf.set(miner, count)
    this.#running += by
  }
}

function minerOf({ block }: Waiting): string {
  return block.header.miner.key
}
