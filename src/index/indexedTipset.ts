/** Tipsets of any age, from an index: what came of them, and their blocks' messages. */
import { fromHex } from '../base/bytes.ts'
import { type BlockMessages, storeBlockMessages } from '../chain/blockMessages.ts'
import type { ChainView } from '../chain/chainView.ts'
import { parseCid } from '../codec/cid.ts'
import type { EthBlock } from '../eth/ethBlock.ts'
import type { PlacedLog } from '../eth/ethLogs.ts'
import { MemoryBlockstore } from '../ipld/blockstore.ts'
import { type BlockHeader, headerCid } from '../types/blockHeader.ts'
import type { ChainMessage } from '../types/chainMessage.ts'
import type { Tipset, TipsetKey } from '../types/tipset.ts'
import { IndexError } from './errors.ts'
import type { HeadIndex } from './headIndex.ts'
import { messageOfRow, receiptOfRow } from './indexedMessage.ts'
import { transactionOfRow } from './indexedTransaction.ts'
import type { LogRow, TransactionColumns } from './indexReader.ts'
import { fromBlocksOrIndex } from './passing.ts'
import { tipsetName } from './tipsetRows.ts'

/** The key of the tipset with this name, on the chain of the head. @throws as {@link HeadIndex.ask} */
export async function indexedKey(index: HeadIndex, name: string): Promise<TipsetKey | undefined> {
  const found = await index.ask((anchor) => index.reader.tipsets(name, anchor))
  const row = found?.answer.rows.find(({ canonical, height }) => canonical && height <= found.place.top)
  return row?.key.map(parseCid)
}

/**
 * An executed tipset as a block of Ethereum's interface; undefined: the index does not have it.
 * @throws IndexError `NOT_KNOWN` for rows of an earlier Petrel, as soon as what they lack is asked for
 */
export async function indexedBlock({ reader, view }: HeadIndex, tipset: Tipset): Promise<EthBlock | undefined> {
  const rows = await reader.tipset({ tipset: tipsetName(tipset), height: tipset.height })
  if (rows === undefined) return undefined
  const { transactions, logs, bloom } = rows
  const chainId = BigInt(view.network.chainId)
  return {
    tipset,
    messages: transactions.map((row) => ({ message: messageOfRow(row), receipt: receiptOfRow(row) })),
    transaction: (at) => transactionOfRow(transactions[at] as TransactionColumns, chainId),
    hash: (at) => transactionOfRow(transactions[at] as TransactionColumns, chainId).hash,
    logs: () => {
      const lists = transactions.map((): PlacedLog[] => [])
      for (const row of logs) lists[row.transaction_index]?.push(placedLog(row))
      return lists
    },
    bloom: () => {
      if (bloom !== null) return fromHex(bloom)
      const text = `the index has the tipset of epoch ${tipset.height} from an earlier Petrel, without the filter of its logs: it is completed by a writer that has the state, or from an archive`
      throw new IndexError('NOT_KNOWN', text)
    },
  }
}

function placedLog({ topics, data, position, emitter, address }: LogRow): PlacedLog {
  return {
    ...{ topics: topics.map(fromHex), data: fromHex(data), logIndex: position },
    ...{ emitter: BigInt(emitter), address: fromHex(address), isIndexed: true },
  }
}

/**
 * The messages of a block, checked against its header; undefined: the index does not have it, or not all of them: those that another
 * block of the tipset took the nonce of have no row.
 */
export async function indexedBlockMessages(
  { reader }: HeadIndex,
  header: BlockHeader,
): Promise<BlockMessages | undefined> {
  const rows = await reader.blockMessages(String(headerCid(header)))
  if (rows === undefined) return undefined
  const messages = rows.map(messageOfRow)
  const lists: BlockMessages = {
    bls: messages.flatMap((message) => (message.kind === 'bls' ? [message.message] : [])),
    signed: messages.flatMap((message) => (message.kind === 'signed' ? [message.signed] : [])),
  }
  return storeBlockMessages(new MemoryBlockstore(), lists).equals(header.messages) ? lists : undefined
}

/** The executed messages of a tipset in order, of its blocks or of an index. @throws as {@link fromBlocksOrIndex} */
export function knownMessages(
  view: ChainView,
  index: HeadIndex | undefined,
  tipset: Tipset,
): Promise<readonly ChainMessage[]> {
  if (tipset.height === 0) return Promise.resolve([])
  return fromBlocksOrIndex(
    index,
    () => view.tipsetMessages(tipset),
    async (asked) => (await indexedBlock(asked, tipset))?.messages.map(({ message }) => message),
  )
}
