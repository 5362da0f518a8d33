/** Transactions of any age, from an index. */
import { fromHex, toHex } from '../base/bytes.ts'
import { NOBODY } from '../eth/ethActorAddress.ts'
import { type EthTransactionView, ethTransactionBetween } from '../eth/ethTransactionOf.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import type { HeadIndex } from './headIndex.ts'
import { messageOfRow } from './indexedMessage.ts'
import type { TransactionColumns, TransactionRow } from './indexReader.ts'
import { unlessUnreachable } from './passing.ts'

/**
 * The executed transaction with this hash on the chain of the head.
 * @param limit - epochs below the head that are searched; negative or undefined: all
 * @throws as {@link unlessUnreachable}
 */
export async function indexedTransaction(
  index: HeadIndex,
  hash: Uint8Array,
  limit: ChainEpoch = -1,
): Promise<TransactionRow | undefined> {
  const { reader } = index
  const found = await unlessUnreachable(index, () => index.ask((anchor) => reader.transactions(toHex(hash), anchor)))
  if (found === undefined) return undefined
  const { answer, place } = found
  const row = answer.rows.find(({ canonical, height }) => canonical && height <= place.top)
  if (row === undefined || limit < 0) return row
  const { head } = place
  // As the search on the chain counts: by the tipset that executed it.
  const executed = index.above(row.height, row.child, place).height
  return executed > head.height - limit || executed === head.height ? row : undefined
}

/** As Ethereum's interface shows it. @throws IndexError `NOT_KNOWN` */
export function transactionOfRow(row: TransactionColumns, chainId: bigint): EthTransactionView {
  const to = (): Uint8Array => (row.recipient === null ? NOBODY : fromHex(row.recipient))
  return ethTransactionBetween(messageOfRow(row), { from: fromHex(row.sender), to }, chainId)
}
