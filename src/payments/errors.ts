/** Errors of market funds and payment channels. Texts are Lotus' own where clients read them. */
import { PetrelError } from '../base/errors.ts'
import { abortable } from '../base/waiting.ts'
import { ChainError } from '../chain/errors.ts'

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

/** Whether waiting for a message has ended without a receipt: nobody knows it, or its nonce went to another one for good. */
export function isWithoutReceipt(error: unknown): error is ChainError {
  return error instanceof ChainError && (error.code === 'NOT_FOUND' || error.code === 'MESSAGE_REPLACED')
}

/** What a promise gives. @throws PaymentError `CANCELLED` when the signal fires before; what the promise rejects with */
export async function orCancelled<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise
  return await abortable(promise, signal).catch((error: unknown) => {
    throw signal.aborted ? new PaymentError('CANCELLED', 'context canceled') : error
  })
}
