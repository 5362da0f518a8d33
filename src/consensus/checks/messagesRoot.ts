import { type BlockMessages, storeBlockMessages } from '../../chain/blockMessages.ts'
import { MemoryBlockstore } from '../../ipld/blockstore.ts'
import type { BlockContext } from '../blockContext.ts'
import { ValidationError } from '../validationError.ts'

/**
 * Check 16.8: the header names these very messages. Done before the other checks of messages: what fails it says nothing
 * about the header, only about whoever delivered the lists.
 * @throws ValidationError `MESSAGES_ROOT_WRONG`
 * @see lotus chain/consensus/common.go checkBlockMessages
 */
export function checkMessagesRoot({ header }: BlockContext, messages: BlockMessages): void {
  const root = storeBlockMessages(new MemoryBlockstore(), messages)
  if (!root.equals(header.messages)) {
    throw new ValidationError(
      'MESSAGES_ROOT_WRONG',
      `messages didnt match message root in header: ${root.toString()} != ${header.messages.toString()}`,
    )
  }
}
