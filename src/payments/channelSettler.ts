/**
 * When who pays settles a channel, the vouchers that this node holds for it go to the chain: what is not there when the time
 * is over is lost.
 * @see lotus paychmgr/settler/settler.go
 */

import { EMPTY_BYTES } from '../base/bytes.ts'
import { errorMessage } from '../base/errors.ts'
import type { Logger } from '../base/ports.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { DIRECTION } from './channelStore.ts'
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
    try {
      for (const { id, channel, direction, vouchers } of this.#channels.records.all()) {
        if (channel === null || direction !== DIRECTION.inbound || vouchers.every((voucher) => voucher.submitted))
          continue
        if (this.#state(channel).settlingAt === 0) {
          this.#since.delete(id)
          continue
        }
        const since = this.#since.get(id) ?? height
        this.#since.set(id, since)
        if (height - since < CONFIDENCE) continue
        for (const voucher of await this.#vouchers.bestSpendable(channel)) {
          await this.#vouchers.submit(channel, voucher, EMPTY_BYTES, EMPTY_BYTES)
        }
      }
    } catch (error) {
      this.#log.warn('vouchers of a settling channel are not submitted', { reason: errorMessage(error) })
    } finally {
      this.#busy = false
    }
  }
}
