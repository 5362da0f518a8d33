/** Executed messages of any age, from an index. */

import { messageByCid } from '../chain/messageByCid.ts'
import type { IndexedMessage, MessageIndex } from '../chain/searchMessage.ts'
import type { Cid } from '../codec/cid.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import type { ChainMessage } from '../types/chainMessage.ts'
import type { Message } from '../types/message.ts'
import { equalTipsetKeys, type Tipset } from '../types/tipset.ts'
import { IndexError } from './errors.ts'
import type { HeadIndex } from './headIndex.ts'
import { messageOfRow, receiptOfRow } from './indexedMessage.ts'
import { fromBlocksOrIndex } from './passing.ts'

async function load(index: HeadIndex, cid: Cid): Promise<ChainMessage | undefined> {
  const found = await index.ask((anchor) => index.reader.messages({ cid: String(cid) }, anchor))
  const [row] = found?.answer.rows ?? []
  return row === undefined ? undefined : messageOfRow(row)
}

/** A message by the CID by which blocks have it, of the blocks at hand or of an index. @throws as {@link fromBlocksOrIndex} */
export function knownMessage(blocks: Blockstore, index: HeadIndex | undefined, cid: Cid): Promise<ChainMessage> {
  return fromBlocksOrIndex(
    index,
    () => messageByCid(blocks, cid),
    (asked) => load(asked, cid),
  )
}

/** See {@link MessageIndex}. */
export function indexedSearch(index: HeadIndex): MessageIndex {
  const { reader, view } = index
  const { store } = view
  return {
    isFirst: index.isFirst,
    load: (cid: Cid): Promise<ChainMessage | undefined> => load(index, cid),
    executed: async (
      { from: sender, nonce }: Pick<Message, 'from' | 'nonce'>,
      from: Tipset,
    ): Promise<IndexedMessage | null | undefined> => {
      const head = store.head()
      if (!equalTipsetKeys(from.key, head.key) && !store.isAncestor(from, head)) {
        throw new IndexError('INDEX_ELSEWHERE', 'not supported: a search below a tipset that the head has left')
      }
      const question = { from: view.addressText(sender), nonce }
      const found = await index.ask((anchor) => reader.messages(question, anchor))
      if (found === undefined) return undefined
      const { answer, place } = found
      const row = answer.rows.find(({ canonical, height }) => canonical && height <= place.top && height < from.height)
      if (row === undefined) {
        // A database that is a little behind the head does not know what the newest tipsets have executed.
        const isCovered = place.top >= Math.min(place.newest.height, from.height - 1)
        // Genesis has no messages.
        return isCovered && place.first <= 1 ? null : undefined
      }
      const tipset = index.above(row.height, row.child, place)
      return { message: messageOfRow(row), receipt: receiptOfRow(row), tipset }
    },
  }
}
