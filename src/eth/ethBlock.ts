/** A tipset as Ethereum's interface tells it: from its execution, or from whoever remembers what came of it. */
import type { ChainMessage } from '../types/chainMessage.ts'
import type { Receipt } from '../types/receipt.ts'
import type { Tipset } from '../types/tipset.ts'
import { logsBloom, type PlacedLog, placedLogs } from './ethLogs.ts'
import { type EthTransactionView, ethHashOf, ethTransactionOf } from './ethTransactionOf.ts'
import type { ExecutedMessage, ExecutedTipset } from './executedTipset.ts'

/** An executed tipset with what blocks, transactions and receipts are made of. */
export interface EthBlock {
  readonly tipset: Tipset
  /** In the order in which they were applied. */
  readonly messages: readonly { readonly message: ChainMessage; readonly receipt: Receipt }[]
  /** The transaction that a message is. */
  transaction(index: number): EthTransactionView
  /** Its hash alone, for which nobody has to know sender and recipient. */
  hash(index: number): Uint8Array
  /** Logs by message. */
  logs(): readonly (readonly PlacedLog[])[]
  /** The filter of all its logs, 256 bytes. */
  bloom(): Uint8Array
}

/** An executed tipset as a block; what is not asked for is not read from its state. */
export function ethBlockOf(executed: ExecutedTipset, chainId: bigint): EthBlock {
  const { tipset, messages } = executed
  const logs = (): PlacedLog[][] => placedLogs(executed)
  return {
    ...{ tipset, messages, logs },
    transaction: (index) => ethTransactionOf((messages[index] as ExecutedMessage).message, executed.tree, chainId),
    hash: (index) => ethHashOf((messages[index] as ExecutedMessage).message, chainId),
    bloom: () => logsBloom(logs().flat()),
  }
}
