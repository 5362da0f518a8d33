/** Makes the tipset of an epoch: who wins, with which messages, and that it can be executed. */
import { bytesToBigInt } from '../base/bytes.ts'
import type { Clock, Logger, Timers } from '../base/ports.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { VmHost } from '../chain/vm.ts'
import { mockBeaconEntries } from '../consensus/beacon.ts'
import { electionPower } from '../consensus/electionPower.ts'
import { lookbackFor } from '../consensus/lookback.ts'
import { blake2b256 } from '../crypto/blake2b.ts'
import { VmError } from '../fvm/errors.ts'
import { allAtHand, type BlockEdge } from '../ipld/blockFetcher.ts'
import type { Network } from '../networks/network.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import { createTipset, firstBlock, type Tipset } from '../types/tipset.ts'
import { createBlock, type EpochInput, electWinners, type Producer, type Winner } from './blocks.ts'
import { UndecidedMessages } from './undecided.ts'

/** What the producers need of the node. */
export interface DevnetDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'tipsetState'>
  /**
   * Messages for a block on top of a tipset, in block order.
   * @param ticketQuality - 0 to 1: how likely the block comes first in its tipset
   */
  readonly selectMessages: (base: Tipset, ticketQuality: number) => Promise<readonly SignedMessage[]>
  /** Takes a new tipset of valid blocks: makes it the head, tells other nodes. Default: it is the head. */
  readonly adopt?: (tipset: Tipset) => void
  /** Resolves when what was written is on disk; rejects when the disk takes nothing. */
  readonly flush: () => Promise<void>
  /** Around what is read: fetches what is missing. Default: all is at hand. */
  readonly edge?: BlockEdge | undefined
  readonly timers: Timers
  readonly clock: Clock
  readonly log: Logger
}

const HASH_BITS = 256
/** Bits of a double's mantissa. */
const QUALITY_BITS = 52

/** How likely a ticket is the smallest. @see lotus chain/types/blockheader.go Ticket.Quality */
function ticketQuality(vrfProof: Uint8Array): number {
  const top = bytesToBigInt(blake2b256(vrfProof)) >> BigInt(HASH_BITS - QUALITY_BITS)
  return 1 - Number(top) / 2 ** QUALITY_BITS
}

/** Unix time of the epoch so many after a block's, seconds. */
export function timestampAfter(network: Network, block: BlockHeader, epochs: number): number {
  return block.timestamp + epochs * network.blockDelaySecs
}

/** Makes tipsets of the producers. */
export class TipsetMaker {
  readonly #producers: readonly Producer[]
  readonly #deps: DevnetDeps
  readonly #reach: (timestamp: number) => Promise<void>
  readonly #undecided = new UndecidedMessages()

  /** @param reach - resolves when a block of this Unix time, seconds, may be made */
  constructor(producers: readonly Producer[], deps: DevnetDeps, reach: (timestamp: number) => Promise<void>) {
    this.#producers = producers
    this.#deps = deps
    this.#reach = reach
  }

  /**
   * The tipset of an epoch on `base`, its blocks in the store.
   * @returns undefined when nobody wins: a null round
   * @throws what `reach` throws; VmError when a block cannot be executed and no message is to blame
   */
  tipsetAt(base: Tipset, epoch: ChainEpoch, hasMessages: boolean): Promise<Tipset | undefined> {
    const { edge = allAtHand } = this.#deps
    // Whatever was stored for it by then is stored again, and nothing else has happened.
    return edge(() => this.#tipsetAt(base, epoch, hasMessages))
  }

  async #tipsetAt(base: Tipset, epoch: ChainEpoch, hasMessages: boolean): Promise<Tipset | undefined> {
    const { view, vm } = this.#deps
    const baseState = await vm.tipsetState(base)
    const lookback = lookbackFor(view.store, view.network, base, epoch)
    const lookbackRoot = lookback.stateRoot ?? baseState.stateRoot
    const input: EpochInput = {
      base,
      epoch,
      beaconEntries: mockBeaconEntries(epoch, base.height),
      baseState,
      baseWeight: view.weight(base),
      baseFee: view.baseFee(base),
      timestamp: timestampAfter(view.network, firstBlock(base), epoch - base.height),
    }
    const power = (miner: Producer['miner']): ReturnType<typeof electionPower> =>
      electionPower(view, view.stateTree(lookbackRoot), miner)
    const winners = electWinners(this.#producers, input, power)
    if (winners.length === 0) return undefined
    return this.#assemble(input, winners, hasMessages)
  }

  async #assemble(input: EpochInput, winners: readonly Winner[], hasMessages: boolean): Promise<Tipset> {
    await this.#reach(input.timestamp)
    const chosen = new Map<Winner, readonly SignedMessage[]>()
    for (const winner of winners) {
      chosen.set(winner, hasMessages ? await this.#deps.selectMessages(input.base, ticketQuality(winner.ticket)) : [])
    }
    const build = (): Tipset =>
      this.#store(
        winners.map((winner) =>
          createBlock(this.#deps.view.store.blocks, input, winner, this.#decided(chosen, winner)),
        ),
      )
    const tipset = build()
    // Nothing to go wrong without messages: the head need not wait for the machine, which at start takes a while to load.
    if ([...chosen.values()].every((messages) => messages.length === 0)) return tipset
    try {
      await this.#deps.vm.tipsetState(tipset)
      return tipset
    } catch (error) {
      if (!(error instanceof VmError)) throw error
      await this.#setUndecidedAside(input, winners[0] as Winner, [...chosen.values()].flat(), error)
      return build()
    }
  }

  #decided(chosen: ReadonlyMap<Winner, readonly SignedMessage[]>, winner: Winner): SignedMessage[] {
    return this.#undecided.without(chosen.get(winner) ?? [])
  }

  #store(headers: ReturnType<typeof createBlock>[]): Tipset {
    for (const header of headers) this.#deps.view.store.putHeader(header)
    return createTipset(headers)
  }

  /** Finds the messages with which a block cannot be executed, by trying them one after the other. */
  async #setUndecidedAside(
    input: EpochInput,
    winner: Winner,
    messages: readonly SignedMessage[],
    reason: VmError,
  ): Promise<void> {
    const { blocks } = this.#deps.view.store
    const taken: SignedMessage[] = []
    let found = false
    for (const message of messages) {
      if (this.#undecided.without([message]).length === 0) continue
      const trial = this.#store([createBlock(blocks, input, winner, [...taken, message])])
      try {
        await this.#deps.vm.tipsetState(trial)
        taken.push(message)
      } catch (error) {
        if (!(error instanceof VmError)) throw error
        this.#undecided.add(message)
        found = true
        this.#deps.log.warn('a message is left out of blocks: it cannot be executed here', {
          from: message.message.from.toString(this.#deps.view.network.addressPrefix),
          nonce: message.message.nonce.toString(),
          reason: error.message,
        })
      }
    }
    if (!found) throw reason
  }
}
