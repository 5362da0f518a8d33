/**
 * Money that the node's addresses hold ready in the storage market, and how much of it is spoken for.
 *
 * Per address one message at a time: a request waits until the one before it is executed. What is reserved, and the message
 * under way, outlive the process.
 *
 * @see lotus chain/market/fundmanager.go FundManager
 */
import { concatBytes, utf8 } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import type { KeyValueStore, Logger } from '../base/ports.ts'
import type { MarketBalance } from '../chain/queries/marketActor.ts'
import { bigInt } from '../codec/bigInteger.ts'
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, decode, encode, nullable, tuple } from '../codec/description.ts'
import { KeyedLock } from '../mempool/keyedLock.ts'
import { withdrawBalanceParams } from '../state/params/market.ts'
import { type Address, address, idAddress } from '../types/address.ts'
import { formatFil } from '../types/fil.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { PaymentError } from './errors.ts'
import type { PaymentDraft } from './paymentDraft.ts'

const MARKET: Address = idAddress(5n)
const ADD_BALANCE = 2n
const WITHDRAW_BALANCE = 3n
const KEY_PREFIX = utf8('market/funds/')

/** What the funds need. */
export interface MarketFundsDeps {
  readonly store: KeyValueStore
  /** At the head. @throws ChainError `ACTOR_NOT_FOUND` */
  balance(address: Address): MarketBalance
  /** Prices, signs and pushes. @returns CID of the signed message */
  push(draft: PaymentDraft): Promise<Cid>
  /** Until a message is executed and lies deep enough. */
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
   */
  reserve(wallet: Address, who: Address, amount: TokenAmount): Promise<Cid | null> {
    return this.#settled(who, async () => {
      const sum = this.#load(who).reserved + amount
      const reserved = sum < 0n ? 0n : sum
      const lacking = reserved > 0n ? reserved - this.#available(who) : 0n
      const message = lacking > 0n ? await this.#deps.push(addBalanceDraft(wallet, who, lacking)) : null
      this.#save(who, { reserved, message })
      return message
    })
  }

  /** Gives up what was reserved; nothing is sent. */
  release(who: Address, amount: TokenAmount): Promise<void> {
    return this.#settled(who, async () => {
      const left = this.#load(who).reserved - amount
      this.#save(who, { reserved: left < 0n ? 0n : left, message: null })
    })
  }

  /**
   * Takes out what is not reserved.
   * @returns null when nothing was asked for
   * @throws PaymentError `NOT_ENOUGH_FUNDS`
   */
  withdraw(wallet: Address, who: Address, amount: TokenAmount): Promise<Cid | null> {
    return this.#settled(who, async () => {
      if (amount === 0n) return null
      const { reserved } = this.#load(who)
      const available = this.#available(who)
      const net = available - reserved
      if (amount > net) {
        const sum = `net available (${formatFil(net)}) = available (${formatFil(available)}) - reserved (${formatFil(reserved)})`
        throw new PaymentError('NOT_ENOUGH_FUNDS', `insufficient funds for withdrawal of ${formatFil(amount)}: ${sum}`)
      }
      const params = encode(withdrawBalanceParams, { providerOrClientAddress: who, amount })
      const message = await this.#deps.push({ to: MARKET, from: wallet, value: 0n, method: WITHDRAW_BALANCE, params })
      this.#save(who, { reserved, message })
      return message
    })
  }

  #available(who: Address): TokenAmount {
    const { escrow, locked } = this.#deps.balance(who)
    return escrow - locked
  }

  /** Runs when the address' last message is executed, also one of an earlier run of the node. */
  #settled<T>(who: Address, run: () => Promise<T>): Promise<T> {
    return this.#alone.run(who.key, async () => {
      const { message } = this.#load(who)
      if (message !== null) await this.#waited(who, message)
      return await run()
    })
  }

  async #waited(who: Address, message: Cid): Promise<void> {
    const known = this.#underWay.get(message.key)
    const waiting =
      known ??
      this.#deps.wait(message).then(
        () => undefined,
        (error: unknown) => this.#deps.log.warn('a message of market funds is lost', { reason: errorMessage(error) }),
      )
    this.#underWay.set(message.key, waiting)
    await waiting
    this.#underWay.delete(message.key)
    this.#save(who, { reserved: this.#load(who).reserved, message: null })
  }

  #load(who: Address): Funded {
    const data = this.#deps.store.get(concatBytes(KEY_PREFIX, who.bytes))
    return data === undefined ? { reserved: 0n, message: null } : decode(funded, data)
  }

  #save(who: Address, state: Funded): void {
    this.#deps.store.put(concatBytes(KEY_PREFIX, who.bytes), encode(funded, state))
  }
}
