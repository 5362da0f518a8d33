/**
 * Vouchers: signed for outbound channels, checked and kept for inbound ones, taken to the chain.
 * @see lotus paychmgr/paych.go, manager.go; node/impl/paych/paych.go
 */
import { EMPTY_BYTES } from '../base/bytes.ts'
import { PetrelError } from '../base/errors.ts'
import type { Cid } from '../codec/cid.ts'
import type { ModVerifyParams, SignedVoucher } from '../state/params/paych.ts'
import type { Address } from '../types/address.ts'
import type { ChosenEpoch, TokenAmount } from '../types/scalars.ts'
import type { Signature } from '../types/signature.ts'
import { collectDraft, settleDraft, updateDraft } from './channelMessages.ts'
import { type ChannelRecord, DIRECTION, sameVoucher } from './channelStore.ts'
import { PaymentError } from './errors.ts'
import type { PaymentChannels, PaymentChannelsDeps } from './paymentChannels.ts'
import { assertVoucher, voucherBytes } from './vouchers.ts'

/** What the vouchers need besides the channels. */
export interface VoucherKeys {
  has(key: Address): Promise<boolean>
  /** @throws WalletError without the key */
  sign(signer: Address, data: Uint8Array): Promise<Signature>
}

/** What a voucher is made of. */
export interface VoucherTerms {
  readonly amount: TokenAmount
  readonly lane: number
  readonly timeLockMin?: ChosenEpoch
  readonly timeLockMax?: ChosenEpoch
  readonly minSettleHeight?: ChosenEpoch
  readonly extra?: ModVerifyParams | null
}

/** A voucher; null: the channel lacks so many attoFIL for it. */
export interface CreatedVoucher {
  readonly voucher: SignedVoucher | null
  readonly shortfall: TokenAmount
}

/** Two parties, no proofs: the parameter is refused as Lotus does. */
function assertNoProof(proof: Uint8Array): void {
  if (proof.length > 0) throw new PaymentError('NOT_SUPPORTED', 'payment channel proof parameter is not supported')
}

/** Makes, checks, keeps and submits the vouchers of the channels that this node keeps. */
export class ChannelVouchers {
  readonly #channels: PaymentChannels
  readonly #deps: Pick<PaymentChannelsDeps, 'state' | 'push' | 'call' | 'addressText' | 'log'>
  readonly #keys: VoucherKeys

  constructor(
    channels: PaymentChannels,
    deps: Pick<PaymentChannelsDeps, 'state' | 'push' | 'call' | 'addressText' | 'log'>,
    keys: VoucherKeys,
  ) {
    this.#channels = channels
    this.#deps = deps
    this.#keys = keys
  }

  /** @throws PaymentError `CHANNEL_NOT_FOUND` */
  allocateLane(channel: Address): Promise<number> {
    return this.#channels.alone(channel, async () => {
      const record = this.#channels.required(channel)
      await this.#put({ ...record, nextLane: record.nextLane + 1 })
      return record.nextLane
    })
  }

  /** In the order of coming. @throws PaymentError `CHANNEL_NOT_FOUND` */
  list(channel: Address): SignedVoucher[] {
    return this.#channels.required(channel).vouchers.map(({ voucher }) => voucher)
  }

  /**
   * Signs a voucher with the lane's next nonce and keeps it.
   * @throws PaymentError `CHANNEL_NOT_FOUND`, `VOUCHER_INVALID`; what signing throws
   */
  async create(channel: Address, terms: VoucherTerms): Promise<CreatedVoucher> {
    if (this.#channels.records.byAddress(channel) === undefined) {
      throw new PaymentError('CHANNEL_NOT_FOUND', 'channel not tracked')
    }
    return await this.#channels.alone(channel, async () => {
      const record = this.#channels.required(channel)
      const nonces = record.vouchers
        .filter(({ voucher }) => voucher.lane === terms.lane)
        .map((kept) => kept.voucher.nonce)
      const unsigned: SignedVoucher = {
        channelAddr: channel,
        timeLockMin: terms.timeLockMin ?? 0n,
        timeLockMax: terms.timeLockMax ?? 0n,
        secretHash: EMPTY_BYTES,
        extra: terms.extra ?? null,
        lane: terms.lane,
        nonce: Math.max(0, ...nonces) + 1,
        amount: terms.amount,
        minSettleHeight: terms.minSettleHeight ?? 0n,
        merges: [],
        signature: null,
      }
      const voucher = { ...unsigned, signature: await this.#sign(record.control, unsigned) }
      try {
        await this.#add(channel, voucher, 0n)
      } catch (error) {
        if (!(error instanceof PaymentError)) throw error
        const { shortfall } = error.info
        if (typeof shortfall === 'string') return { voucher: null, shortfall: BigInt(shortfall) }
        throw new PaymentError(error.code, `failed to persist voucher: ${error.message}`, {}, { cause: error })
      }
      return { voucher, shortfall: 0n }
    })
  }

  async #sign(signer: Address, voucher: SignedVoucher): Promise<Signature> {
    try {
      return await this.#keys.sign(signer, voucherBytes(voucher))
    } catch (cause) {
      if (!(cause instanceof PetrelError)) throw cause
      throw new PaymentError('NOT_SUPPORTED', `failed to sign voucher: ${cause.message}`, {}, { cause })
    }
  }

  /** @throws PaymentError `CHANNEL_NOT_FOUND`, `VOUCHER_INVALID`, `NOT_ENOUGH_FUNDS` */
  async checkValid(channel: Address, voucher: SignedVoucher): Promise<void> {
    await this.#track(channel)
    await this.#channels.alone(channel, () => this.#assert(channel, voucher))
  }

  /** Whether the chain would take it now. @throws PaymentError `CHANNEL_NOT_FOUND`, `VOUCHER_INVALID`, `NOT_SUPPORTED` */
  async checkSpendable(
    channel: Address,
    voucher: SignedVoucher,
    secret: Uint8Array,
    proof: Uint8Array,
  ): Promise<boolean> {
    assertNoProof(proof)
    return await this.#channels.alone(channel, async () => {
      const { to } = await this.#deps.state(channel)
      const known = this.#channels.required(channel).vouchers.find((kept) => sameVoucher(kept.voucher, voucher))
      if (known === undefined) {
        throw new PaymentError('VOUCHER_INVALID', 'cannot submit voucher that has not been added to channel')
      }
      if (known.submitted) return false
      return (await this.#deps.call(updateDraft(channel, to, voucher, secret))) === 0
    })
  }

  /**
   * Keeps a voucher that somebody gave.
   * @param minDelta - least that it must be worth beyond the lane's best
   * @returns what it is worth beyond it; 0 for one that is kept already
   * @throws PaymentError `CHANNEL_NOT_FOUND`, `VOUCHER_INVALID`, `NOT_ENOUGH_FUNDS`, `NOT_SUPPORTED`
   */
  async add(channel: Address, voucher: SignedVoucher, proof: Uint8Array, minDelta: TokenAmount): Promise<TokenAmount> {
    assertNoProof(proof)
    await this.#track(channel)
    return await this.#channels.alone(channel, () => this.#add(channel, voucher, minDelta))
  }

  /**
   * Takes a voucher to the chain; it and earlier ones of its lane count as submitted.
   * @returns CID of the message
   * @throws PaymentError `CHANNEL_NOT_FOUND`, `VOUCHER_INVALID`, `NOT_SUPPORTED`; what pushing throws
   */
  async submit(channel: Address, voucher: SignedVoucher, secret: Uint8Array, proof: Uint8Array): Promise<Cid> {
    assertNoProof(proof)
    return await this.#channels.alone(channel, async () => {
      const record = this.#channels.required(channel)
      const known = record.vouchers.find((kept) => sameVoucher(kept.voucher, voucher))
      if (known?.submitted === true) {
        throw new PaymentError('VOUCHER_INVALID', 'cannot submit voucher that has already been submitted')
      }
      const all = known === undefined ? [...record.vouchers, { voucher, submitted: true }] : record.vouchers
      const vouchers = all.map((kept) => {
        const isOver = kept === known || (kept.voucher.lane === voucher.lane && kept.voucher.nonce < voucher.nonce)
        return isOver ? { ...kept, submitted: true } : kept
      })
      return await this.#push({ ...record, vouchers }, updateDraft(channel, record.control, voucher, secret))
    })
  }

  /** Begins the end of a channel. @returns CID of the message */
  settle(channel: Address): Promise<Cid> {
    return this.#channels.alone(channel, async () => {
      const record = this.#channels.required(channel)
      return await this.#push({ ...record, settling: true }, settleDraft(channel, record.control))
    })
  }

  /** Pays both ends out when the time for it has come. @returns CID of the message */
  collect(channel: Address): Promise<Cid> {
    return this.#channels.alone(channel, () => {
      const { control } = this.#channels.required(channel)
      return this.#deps.push(collectDraft(channel, control))
    })
  }

  /** Of each lane the voucher that is worth most of those that the chain would take now. @see lotus paychmgr/util.go */
  async bestSpendable(channel: Address): Promise<SignedVoucher[]> {
    const best = new Map<number, SignedVoucher>()
    for (const voucher of this.list(channel)) {
      if (!(await this.checkSpendable(channel, voucher, EMPTY_BYTES, EMPTY_BYTES))) continue
      const known = best.get(voucher.lane)
      if (known === undefined || voucher.amount > known.amount) best.set(voucher.lane, voucher)
    }
    return [...best.values()]
  }

  /** Sends; the record goes to disk with the message. */
  async #push(record: ChannelRecord, draft: Parameters<PaymentChannelsDeps['push']>[0]): Promise<Cid> {
    const { records } = this.#channels
    const message = await this.#deps.push(draft, () => [records.write(record)])
    records.written(record)
    return message
  }

  async #assert(channel: Address, voucher: SignedVoucher): Promise<ReturnType<typeof assertVoucher>> {
    const { vouchers } = this.#channels.required(channel)
    return assertVoucher(voucher, channel, await this.#deps.state(channel), vouchers, this.#deps.addressText)
  }

  async #add(channel: Address, voucher: SignedVoucher, minDelta: TokenAmount): Promise<TokenAmount> {
    const record = this.#channels.required(channel)
    if (record.vouchers.some((kept) => sameVoucher(kept.voucher, voucher))) return 0n
    const redeemed = (await this.#assert(channel, voucher)).get(voucher.lane)?.redeemed ?? 0n
    const delta = voucher.amount - redeemed
    if (minDelta > delta) {
      const text = `addVoucher: supplied token amount too low; minD=${minDelta}, D=${delta}; laneAmt=${redeemed}; v.Amt=${voucher.amount}`
      throw new PaymentError('VOUCHER_INVALID', text)
    }
    await this.#put({
      ...record,
      vouchers: [...record.vouchers, { voucher, submitted: false }],
      nextLane: Math.max(record.nextLane, voucher.lane + 1),
    })
    return delta
  }

  /** A voucher is money: it is on disk before anybody hears that it is kept. */
  async #put(record: ChannelRecord): Promise<void> {
    this.#channels.records.put(record)
    await this.#channels.records.flush()
  }

  /** Knows a channel that pays an address of this node. @throws PaymentError `CHANNEL_NOT_FOUND`; ChainError */
  async #track(channel: Address): Promise<void> {
    const { records } = this.#channels
    if (records.byAddress(channel) !== undefined) return
    const state = await this.#deps.state(channel)
    if (!(await this.#keys.has(state.toKey))) {
      const { addressText } = this.#deps
      const text = `cannot add voucher for channel ${addressText(channel)}: wallet does not have key for address ${addressText(state.toKey)}`
      throw new PaymentError('CHANNEL_NOT_FOUND', text)
    }
    // Another call may have been faster, and keep a voucher there already.
    if (records.byAddress(channel) !== undefined) return
    await this.#put({
      id: channel.toString(),
      channel,
      control: state.toKey,
      target: state.fromKey,
      direction: DIRECTION.inbound,
      vouchers: [],
      nextLane: state.lanes.size === 0 ? 0 : Math.max(...state.lanes.keys()) + 1,
      amount: 0n,
      available: 0n,
      pending: 0n,
      pendingAvailable: 0n,
      createMessage: null,
      addMessage: null,
      settling: false,
    })
  }
}
