/**
 * Messages of a block: from its MsgMeta to the two lists, and back.
 * @see lotus chain/store/messages.go MessagesForBlock; chain/consensus/utils.go ComputeMsgMeta
 */
import type { Cid } from '../codec/cid.ts'
import { cid as cidCodec } from '../codec/description.ts'
import { Amt, amtOf } from '../ipld/amt.ts'
import { type Blockstore, getCbor, putCbor } from '../ipld/blockstore.ts'
import { NodeCache } from '../ipld/nodeCache.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import { type Message, message } from '../types/message.ts'
import { msgMeta } from '../types/msgMeta.ts'
import { type SignedMessage, signedMessage } from '../types/signedMessage.ts'
import type { Tipset } from '../types/tipset.ts'
import { ChainError } from './errors.ts'
import { MESSAGE_BYTES, MESSAGE_LIST_BYTES } from './weights.ts'

/** A block's own messages in block order: BLS first. */
export interface BlockMessages {
  readonly bls: readonly Message[]
  /** secp256k1 and delegated ones. */
  readonly signed: readonly SignedMessage[]
}

/** CIDs of a block's messages in block order. */
export interface BlockMessageCids {
  readonly bls: readonly Cid[]
  readonly signed: readonly Cid[]
}

/** Lists of messages keep the old layout for ever. */
const LIST = { v0: true }

function linkedCids(store: Blockstore, root: Cid): Cid[] {
  const list = Amt.load(store, root, cidCodec, LIST)
  const cids = list.values()
  if (cids.length !== list.count) throw new ChainError('BAD_LIST', `found ${cids.length} cids, expected ${list.count}`)
  return cids
}

/** CIDs in a block's lists, by MsgMeta. */
export function blockMessageCids(store: Blockstore, meta: Cid): { bls: Cid[]; signed: Cid[] } {
  const roots = getCbor(store, msgMeta, meta)
  return { bls: linkedCids(store, roots.blsMessages), signed: linkedCids(store, roots.secpkMessages) }
}

/** A message of a tipset, not read. */
export interface MessagePlace {
  readonly cid: Cid
  readonly isSigned: boolean
}

/**
 * A tipset's executed messages in order, where that is seen without reading them: when its blocks name as many as were executed. Each then
 * was where it is named first: nonces below it were taken before, in a valid block.
 * @param count - of those that were executed
 * @returns undefined: blocks name messages that were not
 */
export function executedCids(store: Blockstore, { blocks }: Tipset, count: number): MessagePlace[] | undefined {
  const places = new Map<string, MessagePlace>()
  const add = (cid: Cid, isSigned: boolean): void => {
    if (!places.has(cid.key)) places.set(cid.key, { cid, isSigned })
  }
  for (const header of blocks) {
    const { bls, signed } = blockMessageCids(store, header.messages)
    for (const cid of bls) add(cid, false)
    for (const cid of signed) add(cid, true)
  }
  return places.size === count ? [...places.values()] : undefined
}

function bytesOf({ bls, signed }: BlockMessages): number {
  let bytes = MESSAGE_LIST_BYTES
  for (const { params } of bls) bytes += MESSAGE_BYTES + params.length
  for (const withSignature of signed) bytes += MESSAGE_BYTES + withSignature.message.params.length
  return bytes
}

/** Reads the messages of blocks, remembering the last ones. */
export class BlockMessageReader {
  readonly #store: Blockstore
  readonly #cache: NodeCache

  /** @param cache - default: the store's, or one of its own */
  constructor(store: Blockstore, cache: NodeCache = store.nodes ?? new NodeCache()) {
    this.#store = store
    this.#cache = cache
  }

  /** @throws BlockMissing, IpldError, CodecError */
  messages(header: BlockHeader): BlockMessages {
    const key = `messages ${header.messages.key}`
    const known = this.#cache.get(key) as BlockMessages | undefined
    if (known !== undefined) return known
    const cids = blockMessageCids(this.#store, header.messages)
    const messages = {
      bls: cids.bls.map((cid) => getCbor(this.#store, message, cid)),
      signed: cids.signed.map((cid) => getCbor(this.#store, signedMessage, cid)),
    }
    this.#cache.keep(key, messages, bytesOf(messages))
    return messages
  }
}

/** Stores a block's messages and both lists. @returns the CID for the header's `messages` */
export function storeBlockMessages(store: Blockstore, messages: BlockMessages): Cid {
  return storeMessageLists(store, {
    bls: messages.bls.map((plain) => putCbor(store, message, plain)),
    signed: messages.signed.map((signed) => putCbor(store, signedMessage, signed)),
  })
}

/** Stores both lists of a block, not the messages. @returns the CID for the header's `messages` */
export function storeMessageLists(store: Blockstore, cids: BlockMessageCids): Cid {
  const blsMessages = amtOf(store, cidCodec, cids.bls, LIST)
  const secpkMessages = amtOf(store, cidCodec, cids.signed, LIST)
  return putCbor(store, msgMeta, { blsMessages, secpkMessages })
}
