/**
 * A block that a producer hands in by RPC.
 * @see lotus node/impl/full/sync.go SyncSubmitBlock
 */
import type { BlockMessages } from '../chain/blockMessages.ts'
import type { ChainView } from '../chain/chainView.ts'
import { decode, encode } from '../codec/description.ts'
import { getCbor } from '../ipld/blockstore.ts'
import type { BlockMsg } from '../p2p/gossip/blockMsg.ts'
import { type BlockHeader, blockHeader } from '../types/blockHeader.ts'
import { message } from '../types/message.ts'
import { signedMessage } from '../types/signedMessage.ts'
import type { Syncer } from './syncer.ts'

/** The syncer, which checks the block, and the network, which gets it. */
export interface SubmitDeps {
  readonly view: ChainView
  readonly syncer: Pick<Syncer, 'noteMined' | 'submit'>
  /** Sends the block to the network once it has passed all checks. */
  readonly publish: (header: BlockHeader, messages: BlockMessages) => Promise<void>
}

/**
 * Takes a block whose messages are here: the pool keeps its messages in the chain's blocks.
 * @throws CodecError for a header that no block can have; BlockMissing for a parent or a message that is not here; as {@link Syncer.noteMined}; as {@link Syncer.submit}; as
 * `publish`
 */
export async function submitBlock(deps: SubmitDeps, block: BlockMsg, signal: AbortSignal): Promise<void> {
  const { view, syncer, publish } = deps
  // JSON can say more than a block can hold: as the head it could be written, and never be read again.
  const header = decode(blockHeader, encode(blockHeader, block.header))
  const { blocks } = view.store
  for (const parent of header.parents) view.store.header(parent)
  syncer.noteMined(header)
  const messages = {
    bls: block.blsMessages.map((cid) => getCbor(blocks, message, cid)),
    signed: block.secpkMessages.map((cid) => getCbor(blocks, signedMessage, cid)),
  }
  await syncer.submit({ header, messages }, signal)
  await publish(header, messages)
}
