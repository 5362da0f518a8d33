/**
 * Payment channels of the node's addresses: one message makes a channel, vouchers are signed and checked outside of the chain,
 * one message for each lane takes them there.
 *
 *   wanted --message--> creating --executed--> open --settle--> settling --collect--> gone
 *                          \--failed, or its nonce is another's--> forgotten
 *
 * One operation at a time between two addresses; requests that come while a message is under way are served together by the
 * next one. A channel's record goes to disk with the message that makes it, so that a crash loses neither.
 *
 * @see lotus paychmgr/manager.go Manager, simple.go, paych.go
 */
import { errorMessage, PetrelError } from '../base/errors.ts'
import type { KeyValueStore, Logger } from '../base/ports.ts'
import { whenAborted } from '../base/waiting.ts'
import { ChainError } from '../chain/errors.ts'
import type { FoundMessage } from '../chain/searchMessage.ts'
import type { Cid } from '../codec/cid.ts'
import type { StoreWrite } from '../mempool/groupCommit.ts'
import { KeyedLock } from '../mempool/keyedLock.ts'
import type { Address } from '../types/address.ts'
import { formatFil } from '../types/fil.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { addFundsDraft, createChannelDraft } from './channelMessages.ts'
import { outcomeOf } from './channelOutcome.ts'
import { type ChannelRecord, ChannelStore, DIRECTION } from './channelStore.ts'
import { isWithoutReceipt, orCancelled, PaymentError } from './errors.ts'
import { type FundedChannel, type FundsOptions, type FundsRequest, fillFrom, inOrder, sumOf } from './fundsRequests.ts'
import type { PaymentDraft, PushDraft } from './paymentDraft.ts'
import { type ChannelOnChain, lanesWith, redeemedTotal } from './vouchers.ts'

/** A channel as the chain has it at the head. */
export interface ChannelState extends ChannelOnChain {
  /** As the actor has it: an ID. */
  readonly to: Address
  readonly toKey: Address
  readonly isSettling: boolean
}

/** What the channels need. */
export interface PaymentChannelsDeps {
  readonly store: KeyValueStore
  /** At the head; fetched where it is not here. @throws ChainError when there is no such channel */
  state(channel: Address): ChannelState | Promise<ChannelState>
  /** Code of payment channels at the head. */
  code(): Cid
  readonly push: PushDraft
  /**
   * Until a message is executed and lies deep enough.
   * @throws ChainError `MESSAGE_REPLACED` when another one with its nonce does, `NOT_FOUND`; `CANCELLED` when the node stops
   */
  wait(message: Cid): Promise<Pick<FoundMessage, 'receipt'>>
  /** Exit code of a call at the head; nothing is kept. */
  call(draft: PaymentDraft): Promise<number>
  readonly addressText: (address: Address) => string
  readonly log: Logger
}

/** What a channel has. Amounts are attoFIL. */
export interface AvailableFunds {
  readonly channel: Address | null
  readonly from: Address
  readonly to: Address
  readonly confirmed: TokenAmount
  readonly pending: TokenAmount
  readonly nonReserved: TokenAmount
  readonly pendingAvailable: TokenAmount
  readonly waitSentinel: Cid | null
  readonly queued: TokenAmount
  readonly redeemed: TokenAmount
}

const fromOf = (record: ChannelRecord): Address =>
  record.direction === DIRECTION.outbound ? record.control : record.target
const toOf = (record: ChannelRecord): Address =>
  record.direction === DIRECTION.outbound ? record.target : record.control
const pairKey = (from: Address, to: Address): string => `${from.key} ${to.key}`

/** An amount without its unit. */
const unitless = (amount: TokenAmount): string => formatFil(amount).replace(/ .*$/, '')

/** Channels and their funds. */
export class PaymentChannels {
  readonly records: ChannelStore
  readonly #deps: PaymentChannelsDeps
  readonly #alone = new KeyedLock()
  readonly #requests = new Map<string, FundsRequest[]>()
  /** What waits for messages under way, by CID. */
  readonly #underWay = new Map<string, Promise<void>>()
  /** Wake those whose outcome could not be read or written. */
  readonly #unsettled: (() => void)[] = []

  constructor(deps: PaymentChannelsDeps) {
    this.#deps = deps
    this.records = new ChannelStore(deps.store)
  }

  /** Goes on waiting for messages that were under way when the node stopped. */
  start(): void {
    for (const record of this.records.all()) {
      if (record.createMessage !== null) this.#awaitMessage(record.id, record.createMessage)
      else if (record.addMessage !== null) this.#awaitMessage(record.id, record.addMessage)
    }
  }

  /** What could not be noted when a message was executed is tried again. */
  headChanged(): void {
    for (const again of this.#unsettled.splice(0)) again()
  }

  /**
   * A channel between two addresses with that much for who asks, made or filled up by a message when it is not there.
   * @throws PaymentError `NOT_ENOUGH_FUNDS` where nothing may be sent, `CANCELLED`; what pushing throws
   */
  get(
    from: Address,
    to: Address,
    amount: TokenAmount,
    options: FundsOptions,
    signal?: AbortSignal,
  ): Promise<FundedChannel> {
    if (!options.reserve && options.offChain) {
      throw new PaymentError('NOT_SUPPORTED', "can't fund payment channels without on-chain operations")
    }
    const key = pairKey(from, to)
    let stop = (): void => undefined
    return new Promise<FundedChannel>((resolve, reject) => {
      const request: FundsRequest = { amount, ...options, resolve, reject, isOver: () => signal?.aborted === true }
      stop = whenAborted(signal, () => reject(new PaymentError('CANCELLED', 'context canceled')))
      const queue = this.#requests.get(key)
      if (queue === undefined) this.#requests.set(key, [request])
      else queue.push(request)
      void this.#process(from, to)
    }).finally(() => stop())
  }

  /**
   * The channel of a message, once that is executed.
   * @throws PaymentError `CHANNEL_NOT_FOUND`, `MESSAGE_FAILED`, `CANCELLED`
   */
  async waitReady(message: Cid, signal: AbortSignal): Promise<Address> {
    for (;;) {
      const known = this.records.message(message)
      if (known === undefined) {
        throw new PaymentError('CHANNEL_NOT_FOUND', `Could not find wait msg cid ${message}`)
      }
      if (known.error !== '') throw new PaymentError('MESSAGE_FAILED', known.error)
      if (known.executed) {
        const channel = this.records.byId(known.channelId)?.channel ?? null
        if (channel === null) throw notTracked()
        return channel
      }
      await orCancelled(this.#underWay.get(message.key) ?? Promise.resolve(), signal)
      if (!this.#underWay.has(message.key) && this.records.message(message)?.executed === false) {
        throw new PaymentError('CANCELLED', 'context canceled')
      }
    }
  }

  /** @throws PaymentError `CHANNEL_NOT_FOUND` */
  async availableFunds(channel: Address): Promise<AvailableFunds> {
    return await this.#funds(this.required(channel).id)
  }

  /** Of the open channel between two addresses; all zero without one. */
  async availableFundsBetween(from: Address, to: Address): Promise<AvailableFunds> {
    const found = await this.#openChannel(from, to)
    if (found !== undefined) return await this.#funds(found.id)
    const [zero, none] = [0n, null]
    const amounts = { confirmed: zero, pending: zero, nonReserved: zero, pendingAvailable: zero, queued: zero }
    return { channel: none, from, to, ...amounts, waitSentinel: none, redeemed: zero }
  }

  /** Addresses of all channels that are on the chain. */
  list(): Address[] {
    return this.records.all().flatMap(({ channel }) => (channel === null ? [] : [channel]))
  }

  /** @throws PaymentError `CHANNEL_NOT_FOUND` */
  required(channel: Address): ChannelRecord {
    const found = this.records.byAddress(channel)
    if (found === undefined) throw notTracked()
    return found
  }

  /** Runs when earlier operations between the channel's two addresses have ended. @throws PaymentError `CHANNEL_NOT_FOUND` */
  alone<T>(channel: Address, run: () => Promise<T> | T): Promise<T> {
    const record = this.required(channel)
    return this.#alone.run(pairKey(fromOf(record), toOf(record)), async () => await run())
  }

  async #funds(id: string): Promise<AvailableFunds> {
    const before = this.records.byId(id) as ChannelRecord
    const queued = await this.#process(fromOf(before), toOf(before))
    const record = this.records.byId(id)
    if (record === undefined) throw notTracked()
    const { channel } = record
    const lanes = channel === null ? new Map() : lanesWith((await this.#deps.state(channel)).lanes, record.vouchers)
    return {
      channel,
      from: fromOf(record),
      to: toOf(record),
      confirmed: record.amount,
      pending: record.pending,
      nonReserved: record.available,
      pendingAvailable: record.pendingAvailable,
      waitSentinel: record.createMessage ?? record.addMessage,
      queued,
      redeemed: redeemedTotal(lanes),
    }
  }

  /** Serves the requests between two addresses. @returns what waits for a message under way, attoFIL */
  #process(from: Address, to: Address): Promise<TokenAmount> {
    const key = pairKey(from, to)
    return this.#alone.run(key, async () => {
      const requests = inOrder((this.#requests.get(key) ?? []).filter((request) => !request.isOver()))
      this.#requests.delete(key)
      if (requests.length === 0) return 0n
      let waiting: FundsRequest[] = []
      try {
        waiting = await this.#serve(from, to, requests)
      } catch (error) {
        // Those that were answered before do not hear of it.
        for (const request of requests) request.reject(error)
      }
      if (waiting.length > 0) this.#requests.set(key, [...waiting, ...(this.#requests.get(key) ?? [])])
      return sumOf(waiting).total
    })
  }

  async #serve(from: Address, to: Address, requests: FundsRequest[]): Promise<FundsRequest[]> {
    const { addressText } = this.#deps
    const pair = `${addressText(from)} ${addressText(to)}`
    const record = await this.#openChannel(from, to)
    if (record === undefined) {
      const text = (amount: TokenAmount): string =>
        `payment channel doesn't exist, create with 'lotus paych add-funds ${pair} ${unitless(amount)}'`
      for (const { amount, offChain, reject } of requests) {
        if (offChain) reject(new PaymentError('CHANNEL_NOT_FOUND', text(amount)))
      }
      await this.#create(
        from,
        to,
        requests.filter(({ offChain }) => !offChain),
      )
      return []
    }
    const { channel } = record
    if (channel === null || record.addMessage !== null) return requests
    const { rest, available, answer } = fillFrom(
      requests,
      channel,
      record.available,
      (amount) =>
        `not enough funds available in the payment channel ${addressText(channel)}; ` +
        `add funds with 'lotus paych add-funds ${pair} ${unitless(amount)}'`,
    )
    const filled = { ...record, available }
    if (available !== record.available) this.records.put(filled)
    answer()
    await this.#add(filled, channel, rest)
    return []
  }

  async #create(from: Address, to: Address, requests: readonly FundsRequest[]): Promise<void> {
    if (requests.length === 0) return
    const { total, free } = sumOf(requests)
    const recordOf = (message: Cid): ChannelRecord => ({
      id: message.toString(),
      channel: null,
      control: from,
      target: to,
      direction: DIRECTION.outbound,
      vouchers: [],
      nextLane: 0,
      amount: 0n,
      available: 0n,
      pending: total,
      pendingAvailable: free,
      createMessage: message,
      addMessage: null,
      settling: false,
    })
    let message: Cid
    try {
      message = await this.#deps.push(createChannelDraft(from, to, total, this.#deps.code()), (cid) =>
        this.#writes(recordOf(cid), cid),
      )
    } catch (cause) {
      if (!(cause instanceof PetrelError)) throw cause
      const text = `initializing paych actor: ${cause.message}`
      throw new PaymentError('MESSAGE_FAILED', text, {}, { cause })
    }
    this.#sent(recordOf(message), message)
    for (const request of requests) request.resolve({ channel: undefined, message })
  }

  async #add(record: ChannelRecord, channel: Address, requests: readonly FundsRequest[]): Promise<void> {
    const { total, free } = sumOf(requests)
    if (total === 0n) {
      for (const request of requests) request.resolve({ channel, message: undefined })
      return
    }
    const recordOf = (message: Cid): ChannelRecord => ({
      ...record,
      pending: total,
      pendingAvailable: free,
      addMessage: message,
    })
    const message = await this.#deps.push(addFundsDraft(channel, record.control, total), (cid) =>
      this.#writes(recordOf(cid), cid),
    )
    this.#sent(recordOf(message), message)
    for (const request of requests) request.resolve({ channel, message })
  }

  #writes(record: ChannelRecord, message: Cid): StoreWrite[] {
    const sent = { channelId: record.id, executed: false, error: '' }
    return [this.records.write(record), this.records.messageWrite(message, sent)]
  }

  /** The message is in the pool, and what was to go to disk with it is there. */
  #sent(record: ChannelRecord, message: Cid): void {
    this.records.written(record)
    this.#awaitMessage(record.id, message)
  }

  #awaitMessage(id: string, message: Cid): void {
    const waiting = this.#settled(id, message).finally(() => this.#underWay.delete(message.key))
    this.#underWay.set(message.key, waiting)
  }

  /** Never rejects. */
  async #settled(id: string, message: Cid): Promise<void> {
    const before = this.records.byId(id) as ChannelRecord
    const [from, to] = [fromOf(before), toOf(before)]
    let error: string | undefined
    while (error === undefined) {
      try {
        const receipt = await this.#receipt(message)
        error = await this.#alone.run(pairKey(from, to), () => Promise.resolve(this.#settle(id, message, receipt)))
      } catch (cause) {
        // The node stops: the next start goes on.
        if (cause instanceof PetrelError && cause.code === 'CANCELLED') return
        // A disk that is full says nothing about the message: who waits for it goes on waiting.
        const about = { message: message.toString(), reason: errorMessage(cause) }
        this.#deps.log.warn('what became of a message of a payment channel is not noted, again at the next head', about)
        await new Promise<void>((resolve) => this.#unsettled.push(resolve))
      }
    }
    if (error !== '') this.#deps.log.warn('a message of a payment channel failed', { message: `${message}`, error })
    void this.#process(from, to)
  }

  /** Or why there is none. */
  async #receipt(message: Cid): Promise<FoundMessage['receipt'] | ChainError> {
    try {
      return (await this.#deps.wait(message)).receipt
    } catch (error) {
      if (isWithoutReceipt(error)) return error
      throw error
    }
  }

  /** @returns what went wrong; empty: nothing */
  #settle(id: string, message: Cid, receipt: FoundMessage['receipt'] | ChainError): string {
    const outcome = outcomeOf(this.records.byId(id) as ChannelRecord, receipt)
    this.records.settle(id, message, outcome)
    return outcome.error
  }

  /** The channel that an address pays another through, if it is not settling. */
  async #openChannel(from: Address, to: Address): Promise<ChannelRecord | undefined> {
    for (const record of this.records.all()) {
      if (record.direction !== DIRECTION.outbound || record.settling) continue
      if (!record.control.equals(from) || !record.target.equals(to)) continue
      if (record.channel === null || (await this.#isOpen(record.channel))) return record
    }
    return undefined
  }

  async #isOpen(channel: Address): Promise<boolean> {
    try {
      return !(await this.#deps.state(channel)).isSettling
    } catch (error) {
      // Of a channel that is gone: collected.
      if (error instanceof ChainError) return false
      throw error
    }
  }
}

function notTracked(): PaymentError {
  return new PaymentError('CHANNEL_NOT_FOUND', 'channel not tracked')
}
