/** JSON `MsgLookup`: where a message was executed. */
import type { FoundMessage } from '../../chain/searchMessage.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, json, struct } from '../../codec/description.ts'
import type { Json } from '../../codec/jsonText.ts'
import { type Receipt, receiptV1 } from '../../types/receipt.ts'
import { type ChainEpoch, chainEpoch } from '../../types/scalars.ts'
import { type TipsetKey, tipsetKey } from '../../types/tipset.ts'

/** An executed message. */
export interface MsgLookup {
  /** Of the message that was executed: a replacement's, where one was. */
  readonly message: Cid
  readonly receipt: Receipt
  /** The return decoded by the method's type; null where it is not decoded. */
  readonly returnDec: Json
  /** The tipset that executed it. */
  readonly tipset: TipsetKey
  readonly height: ChainEpoch
}

export const msgLookup: Codec<MsgLookup> = struct<MsgLookup>('api.MsgLookup', [
  ['message', 'Message', cid],
  ['receipt', 'Receipt', receiptV1],
  ['returnDec', 'ReturnDec', json],
  ['tipset', 'TipSet', tipsetKey],
  ['height', 'Height', chainEpoch],
])

/** As JSON needs it: the tipset by key and height instead of whole. */
export function toMsgLookup({ cid: found, receipt, tipset }: FoundMessage, returnDec: Json): MsgLookup {
  return { message: found, receipt, returnDec, tipset: tipset.key, height: tipset.height }
}
