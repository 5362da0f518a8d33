/** JSON forms of chain objects that are Lotus' API's own. Field order is Go's. */

import type { HeadChange, HeadChangeKind } from '../../chain/headChange.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, cid, jsonOnly, list, listOrEmpty, nullable, struct, uint } from '../../codec/description.ts'
import { named } from '../../codec/goJson.ts'
import { type ChainMessage, chainMessageCid } from '../../types/chainMessage.ts'
import { type Message, message, messageCid } from '../../types/message.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from '../../types/signedMessage.ts'
import { tipset } from '../../types/tipset.ts'

/** A message of the chain without its signature. */
export interface ApiMessage {
  /** Of the signed message unless BLS. */
  readonly cid: Cid
  readonly message: Message
}

/** Drops the signature; the CID stays that of the message as its block holds it. */
export function toApiMessage(sent: ChainMessage): ApiMessage {
  return { cid: chainMessageCid(sent), message: sent.message }
}

const apiMessage: Codec<ApiMessage> = struct<ApiMessage>('api.Message', [
  ['cid', 'Cid', cid],
  ['message', 'Message', message],
])

/** Null when empty. */
export const apiMessages: Codec<ApiMessage[]> = list(apiMessage)

/** A block's own messages. */
export interface ApiBlockMessages {
  readonly bls: readonly Message[]
  readonly signed: readonly SignedMessage[]
}

const blockMessagesForm: Codec<{ bls: Message[]; signed: SignedMessage[]; cids: Cid[] }> = struct('api.BlockMessages', [
  ['bls', 'BlsMessages', listOrEmpty(message)],
  ['signed', 'SecpkMessages', listOrEmpty(signedMessage)],
  ['cids', 'Cids', listOrEmpty(cid)],
])

/** `{BlsMessages, SecpkMessages, Cids}`, `[]` when empty. */
export const apiBlockMessages: Codec<ApiBlockMessages> = jsonOnly<ApiBlockMessages>(
  'api.BlockMessages',
  ({ bls, signed }, context) =>
    blockMessagesForm.toJson(
      { bls: [...bls], signed: [...signed], cids: [...bls.map(messageCid), ...signed.map(signedMessageCid)] },
      context,
    ),
  (json, context) => blockMessagesForm.fromJson(json, context),
  blockMessagesForm.schema,
)

const headChangeKind: Codec<HeadChangeKind> = jsonOnly<HeadChangeKind>(
  'string',
  (value) => value,
  (json) => (json === 'revert' || json === 'apply' ? json : 'current'),
  { type: 'string', enum: ['current', 'revert', 'apply'] },
)

/** `{Type, Val}`. */
const apiHeadChange: Codec<HeadChange> = struct<HeadChange>('api.HeadChange', [
  ['kind', 'Type', headChangeKind],
  ['tipset', 'Val', tipset],
])

/** Steps of a head change. */
export const apiHeadChanges: Codec<readonly HeadChange[]> = listOrEmpty(apiHeadChange) as Codec<readonly HeadChange[]>

/** Size of a tree of blocks. */
export interface ObjStat {
  /** Bytes. */
  readonly size: number
  /** Blocks. */
  readonly links: number
}

export const objStat: Codec<ObjStat> = struct<ObjStat>('api.ObjStat', [
  ['size', 'Size', uint],
  ['links', 'Links', uint],
])

/** A CID that may be undefined: JSON null. */
export const optionalCid: Codec<Cid | null> = named(nullable(cid), 'cid.Cid')
