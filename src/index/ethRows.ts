/** Transactions and logs, as Ethereum's interface shows them, as rows. */
import type { ChainView } from '../chain/chainView.ts'
import { logsBloom, placedLogs } from '../eth/ethLogs.ts'
import { createdAddress } from '../eth/ethTraces.ts'
import { ethTransactionOf } from '../eth/ethTransactionOf.ts'
import type { ExecutedTipset } from '../eth/executedTipset.ts'
import type { Row } from './indexStore.ts'
import { byteText } from './rowText.ts'

const TOPICS = [0, 1, 2, 3]

/** Logs that searches and receipts do not know are left out; the filter of the block has them. */
export function ethRows(
  view: ChainView,
  executed: ExecutedTipset,
): { readonly transactions: Row[]; readonly logs: Row[]; readonly bloom: string } {
  const chainId = BigInt(view.network.chainId)
  const placed = placedLogs(executed)
  const transactions: Row[] = []
  const logs: Row[] = []
  executed.messages.forEach(({ message, receipt }, position) => {
    const tx = ethTransactionOf(message, executed.tree, chainId)
    const hash = byteText(tx.hash)
    const isCreated = tx.to === undefined && receipt.exitCode === 0
    transactions.push({
      position,
      hash,
      type: tx.type,
      is_native: tx.isNative,
      sender: byteText(tx.from),
      recipient: tx.to === undefined ? null : byteText(tx.to),
      nonce: String(tx.nonce),
      value: String(tx.value),
      input: byteText(tx.input),
      succeeded: receipt.exitCode === 0,
      created: isCreated ? byteText(createdAddress(receipt.return)) : null,
    })
    for (const { logIndex, emitter, address, topics, data, isIndexed } of placed[position] ?? []) {
      if (!isIndexed) continue
      const columns = TOPICS.map((i) => [`topic${i}`, topics[i] === undefined ? null : byteText(topics[i])])
      logs.push({
        log_index: logIndex,
        transaction: hash,
        emitter,
        address: byteText(address),
        ...(Object.fromEntries(columns) as Row),
        data: byteText(data),
      })
    }
  })
  return { transactions, logs, bloom: byteText(logsBloom(placed.flat())) }
}
