import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 18, second half: the receipts that executing the parents gave.
 * @throws ValidationError `RECEIPTS_ROOT_WRONG`
 */
export function checkReceiptsRoot({ header, baseResult }: BlockContext): void {
  if (baseResult === undefined || header.parentMessageReceipts.equals(baseResult.receiptsRoot)) return
  const computed = baseResult.receiptsRoot.toString()
  const claimed = header.parentMessageReceipts.toString()
  const text = `parent receipts root did not match computed value (${computed} != ${claimed})`
  throw new ValidationError('RECEIPTS_ROOT_WRONG', text, { computed, claimed })
}
