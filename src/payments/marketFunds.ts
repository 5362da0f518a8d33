/**
 * Money that the node's addresses hold ready in the storage market, and how much of it is spoken for.
 *
 * Per address one message at a time: a request waits until the one before it is executed or its nonce is another's, and nothing comes
 * of it when its caller leaves before. What is reserved, and the message under way, go to disk with that message and outlive the process.
 *
 * @see lotus chain/market/fundmanager.go FundManager
 */
import { concatBytes, utf8 } from '../base/bytes.ts'
import type { KeyValueStore, Logger } from '../base/ports.ts'
import type { MarketBalance } from '../chain/queries/marketActor.ts'
import { bigInt } from '../codec/bigInteger.ts'
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, decode, encode, nullable, tuple } from '../codec/description.ts'
import type { StoreWrite } from '../mempool/groupCommit.ts'
import { KeyedLock } from '../mempool/keyedLock.ts'
import { withdrawBalanceParams } from '../state/params/market.ts'
import { type Address, address, idAddress } from '../types/address.ts'
import { formatFil } from '../types/fil.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { isWithoutReceipt, orCancelled, PaymentError } from './errors.ts'
import type { PaymentDraft, PushDraft } from './paymentDraft.ts'

const MARKET: Address = idAddress(5n)
const ADD_BALANCE = 2n
const WITHDRAW_BALANCE = 3n
const KEY_PREFIX = utf8('market/funds/')

/** What the funds need. */
export interface MarketFundsDeps {
  readonly store: KeyValueStore
  /** At the head; fetched where it is not here. @throws ChainError `ACTOR_NOT_FOUND` */
  balance(address: Address): MarketBalance | Promise<MarketBalance>
  readonly push: PushDraft
  /**
   * Until a message is executed and lies deep enough.
   * @throws ChainError `MESSAGE_REPLACED` when another one with its nonce does, `NOT_FOUND`; `CANCELLED` when the node stops
   */
  wait(message: Cid): Promise<unknown>
  readonly log: Logger
}

interface Funded {
  readonly reserved: TokenAmount
  readonly message: Cid | null
}

const funded: Codec<Funded> = tuple<Funded>('FundedAddressState', [
  ['reserved', 'AmtReserved', bigInt],
  ['message', 'MsgCid', nullable(cid)],
])

/** The message that adds to an address' market balance. */
export function addBalanceDraft(wallet: Address, to: Address, amount: TokenAmount): PaymentDraft {
  return { to: MARKET, from: wallet, value: amount, method: ADD_BALANCE, params: encode(address, to) }
}

/** Reserves, releases and withdraws funds, by address. */
export class MarketFunds {
  readonly #deps: MarketFundsDeps
  readonly #alone = new KeyedLock()
  /** What waits for messages under way, by address. */
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(deps: MarketFundsDeps) {
    this.#deps = deps
  }

  /** AttoFIL that are spoken for. */
  reserved(who: Address): TokenAmount {
    return this.#load(who).reserved
  }

  /**
   * Speaks for an amount; sends what the market balance lacks for it.
   * @returns the message that adds to the balance; null: there was enough
   * @throws PaymentError, ChainError `CANCELLED` when the caller leaves or the node stops while it waits; what pushing throws
   */
  reserve(wallet: Address, who: Address, amount: TokenAmount, signal?: AbortSignal): Promise<Cid | null> {
    return this.#settled(who, signal, async () => {
      const sum = this.#load(who).reserved + amount
      const reserved = sum < 0n ? 0n : sum
      const lacking = reserved > 0n ? reserved - (await this.#available(who)) : 0n
      if (lacking > 0n) return await this.#push(who, reserved, addBalanceDraft(wallet, who, lacking), signal)
      this.#save(who, { reserved, message: null })
      return null
    })
  }

  /** Gives up what was reserved; nothing is sent. @throws PaymentError, ChainError `CANCELLED` */
  release(who: Address, amount: TokenAmount, signal?: AbortSignal): Promise<void> {
    return this.#settled(who, signal, async () => {
      const left = this.#load(who).reserved - amount
      this.#save(who, { reserved: left < 0n ? 0n : left, message: null })
    })
  }

  /**
   * Takes out what is not reserved.
   * @returns null when nothing was asked for
   * @throws PaymentError `NOT_ENOUGH_FUNDS`; as {@link MarketFunds.reserve}
   */
  withdraw(wallet: Address, who: Address, amount: TokenAmount, signal?: AbortSignal): Promise<Cid | null> {
    return this.#settled(who, signal, async () => {
      if (amount === 0n) return null
      const { reserved } = this.#load(who)
      const available = await this.#available(who)
      const net = available - reserved
      if (amount > net) {
        const sum = `net available (${formatFil(net)}) = available (${formatFil(available)}) - reserved (${formatFil(reserved)})`
        throw new PaymentError('NOT_ENOUGH_FUNDS', `insufficient funds for withdrawal of ${formatFil(amount)}: ${sum}`)
      }
      const params = encode(withdrawBalanceParams, { providerOrClientAddress: who, amount })
      const draft = { to: MARKET, from: wallet, value: 0n, method: WITHDRAW_BALANCE, params }
      return await this.#push(who, reserved, draft, signal)
    })
  }

  async #available(who: Address): Promise<TokenAmount> {
    const { escrow, locked } = await this.#deps.balance(who)
    return escrow - locked
  }

  async #push(who: Address, reserved: TokenAmount, draft: PaymentDraft, signal: AbortSignal | undefined): Promise<Cid> {
    const sent = await this.#deps.push(draft, (message) => [this.#write(who, { reserved, message })], signal)
    // A failure is the next request's, which waits anew.
    this.#executed(who, sent).catch(() => undefined)
    return sent
  }

  /** Runs when the address' last message is executed, also one of an earlier run of the node. */
  #settled<T>(who: Address, signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> {
    return this.#alone.run(who.key, async () => {
      const { message } = this.#load(who)
      if (message !== null) await orCancelled(this.#executed(who, message), signal)
      // Who has left may ask again: it would be reserved twice.
      if (signal?.aborted === true) throw new PaymentError('CANCELLED', 'context canceled')
      return await run()
    })
  }

  /** One waiting for all that ask; it goes on when they leave. */
  #executed(who: Address, message: Cid): Promise<void> {
    const known = this.#underWay.get(who.key)
    if (known !== undefined) return known
    const waiting = this.#untilExecuted(who, message).finally(() => this.#underWay.delete(who.key))
    this.#underWay.set(who.key, waiting)
    return waiting
  }

  async #untilExecuted(who: Address, message: Cid): Promise<void> {
    try {
      await this.#deps.wait(message)
    } catch (cause) {
      // The node stops, or cannot look now: the message is still under way, and the next request waits for it.
      if (!isWithoutReceipt(cause)) throw cause
      this.#deps.log.warn('a message of market funds is lost', { reason: cause.message })
    }
    this.#save(who, { reserved: this.#load(who).reserved, message: null })
  }

  #load(who: Address): Funded {
    const data = this.#deps.store.get(concatBytes(KEY_PREFIX, who.bytes))
    return data === undefined ? { reserved: 0n, message: null } : decode(funded, data)
  }

  #write(who: Address, state: Funded): StoreWrite {
    return { key: concatBytes(KEY_PREFIX, who.bytes), value: encode(funded, state) }
  }

  #save(who: Address, state: Funded): void {
    const { key, value } = this.#write(who, state)
    this.#deps.store.put(key, value)
  }
}
