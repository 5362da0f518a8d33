/** Checks 17 and 18: the base fee and what executing the parents gave. */
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

export function checkBaseFee({ header, base, view }: BlockContext): void {
  const baseFee = view.baseFee(base)
  if (header.parentBaseFee !== baseFee) {
    throw new ValidationError(
      'BASE_FEE_WRONG',
      `base fee doesn't match: ${header.parentBaseFee} (header) != ${baseFee} (computed)`,
    )
  }
}

/** Nothing to compare for a follower that does not execute. */
export function checkResult({ header, baseResult }: BlockContext): void {
  if (baseResult === undefined) return
  const { stateRoot, receiptsRoot } = baseResult
  if (!header.parentStateRoot.equals(stateRoot)) {
    const text = `parent state root did not match computed state (${stateRoot.toString()} != ${header.parentStateRoot.toString()})`
    throw new ValidationError('STATE_ROOT_WRONG', text, {
      computed: stateRoot.toString(),
      claimed: header.parentStateRoot.toString(),
    })
  }
  if (!header.parentMessageReceipts.equals(receiptsRoot)) {
    const text = `parent receipts root did not match computed value (${receiptsRoot.toString()} != ${header.parentMessageReceipts.toString()})`
    throw new ValidationError('RECEIPTS_ROOT_WRONG', text, {
      computed: receiptsRoot.toString(),
      claimed: header.parentMessageReceipts.toString(),
    })
  }
}
