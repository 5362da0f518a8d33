/**
 * A message by its CID, signed or not.
 * @see lotus chain/store/messages.go GetCMessage
 */

import { unlessThrown } from '../base/errors.ts'
import type { Cid } from '../codec/cid.ts'
import { decode } from '../codec/description.ts'
import { CodecError } from '../codec/errors.ts'
import { type Blockstore, getBlock } from '../ipld/blockstore.ts'
import { blsChainMessage, type ChainMessage, signedChainMessage } from '../types/chainMessage.ts'
import { message } from '../types/message.ts'
import { signedMessage } from '../types/signedMessage.ts'

/**
 * The unsigned CID of a signed message gives it bare.
 * @throws BlockMissing; CodecError when the CID names something else
 */
export function messageByCid(blocks: Blockstore, cid: Cid): ChainMessage {
  const data = getBlock(blocks, cid)
  const unsigned = unlessThrown(() => decode(message, data), CodecError)
  // The failure of the second form is the one that Lotus reports.
  return unsigned === undefined ? signedChainMessage(decode(signedMessage, data)) : blsChainMessage(unsigned)
}
