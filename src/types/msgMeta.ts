/**
 * Roots of a block's two message lists.
 * @see lotus chain/types/blockheader.go MsgMeta
 */
import type { Cid } from '../codec/cid.ts'
import { type Codec, cid, tuple } from '../codec/description.ts'

/** Roots of two AMTs (v0 layout) of message CIDs. */
export interface MsgMeta {
  readonly blsMessages: Cid
  readonly secpkMessages: Cid
}

export const msgMeta: Codec<MsgMeta> = tuple<MsgMeta>('types.MsgMeta', [
  ['blsMessages', 'BlsMessages', cid],
  ['secpkMessages', 'SecpkMessages', cid],
])
