/**
 * When who pays settles a channel, the vouchers that this node holds for it go to the chain: what is not there when the time
 * is over is lost.
 * @see lotus paychmgr/settler/settler.go
 */

import { EMPTY_BYTES } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import { ChainError } from '../chain/errors.ts'
import type { Address } from '../types/address.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { type ChannelRecord, DIRECTION } from './channelStore.ts'
import type { ChannelVouchers } from './channelVouchers.ts'
import type { PaymentChannels, PaymentChannelsDeps } from './paymentChannels.ts'

/** Epochs that a settling channel is seen before anything is sent. @see lotus build/buildconstants MessageConfidence */
const CONFIDENCE = 6

/** Looks after inbound channels with vouchers that are not on the chain yet. */
export class ChannelSettler {
  readonly #channels: PaymentChannels
  readonly #vouchers: ChannelVouchers
  readonly #state: PaymentChannelsDeps['state']
  readonly #log: Logger
  /** Epochs at which channels were first seen settling. */
  readonly #since = new Map<string, ChainEpoch>()
  #busy = false

  constructor(
    channels: PaymentChannels,
    vouchers: ChannelVouchers,
    { state, log }: Pick<PaymentChannelsDeps, 'state' | 'log'>,
  ) {
    this.#channels = channels
    this.#vouchers = vouchers
    this.#state = state
    this.#log = log
  }

  /** Looks at the channels; the head is at this epoch. Never rejects. */
  async check(height: ChainEpoch): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    for (const record of this.#channels.records.all()) {
      try {
        await this.#checkOne(record, height)
      } catch (error) {
        const about = { channel: record.id, reason: errorMessage(error) }
        this.#log.warn('vouchers of a settling channel are not submitted', about)
      }
    }
    this.#busy = false
  }

  async #checkOne({ id, channel, direction, vouchers }: ChannelRecord, height: ChainEpoch): Promise<void> {
    if (channel === null || direction !== DIRECTION.inbound || vouchers.every(({ submitted }) => submitted)) return
    if (!(await this.#isSettling(channel))) {
      this.#since.delete(id)
      return
    }
    const since = this.#since.get(id) ?? height
    this.#since.set(id, since)
    if (height - since < CONFIDENCE) return
    for (const voucher of await this.#vouchers.bestSpendable(channel)) {
      await this.#vouchers.submit(channel, voucher, EMPTY_BYTES, EMPTY_BYTES)
    }
  }

  /** Of one that is gone, no: it was collected, and nothing can be redeemed there any more. */
  async #isSettling(channel: Address): Promise<boolean> {
    try {
      return (await this.#state(channel)).isSettling
    } catch (error) {
      if (error instanceof ChainError && error.code === 'ACTOR_NOT_FOUND') return false
      throw error
    }
  }
}
