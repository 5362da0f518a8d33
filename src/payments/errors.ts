/** Errors of market funds and payment channels. Texts are Lotus' own where clients read them. */
import { PetrelError } from '../base/errors.ts'

/** Codes of {@link PaymentError}. */
export type PaymentErrorCode =
  | 'NOT_ENOUGH_FUNDS'
  | 'CHANNEL_NOT_FOUND'
  | 'CANCELLED'
  | 'VOUCHER_INVALID'
  | 'MESSAGE_FAILED'
  | 'NOT_SUPPORTED'

/** What a market balance or a payment channel refuses. */
export class PaymentError extends PetrelError<PaymentErrorCode> {}
