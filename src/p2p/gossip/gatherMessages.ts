/**
 * The messages of a gossiped block by their CIDs: from our own store (the pool puts there what it takes), from peers one by
 * one, and when that takes long all of them at once by the chain exchange. All three go on until the block is whole.
 * @see lotus chain/sub/incoming.go FetchMessagesByCids, FetchSignedMessagesByCids
 */

import { errorMessage } from '../../base/errors.ts'
import type { Logger, Timers } from '../../base/ports.ts'
import { sleep, whenAborted } from '../../base/waiting.ts'
import type { BlockMessages } from '../../chain/blockMessages.ts'
import { type Cid, CODEC_DAG_CBOR, HASH_BLAKE2B_256 } from '../../codec/cid.ts'
import { type Codec, decode, encode } from '../../codec/description.ts'
import { blockCid } from '../../crypto/blockCid.ts'
import type { BlockSource } from '../../ipld/blockFetcher.ts'
import type { Blockstore } from '../../ipld/blockstore.ts'
import { isBlockOf } from '../../ipld/verifyBlock.ts'
import { message, messageCid } from '../../types/message.ts'
import { type SignedMessage, signedMessage } from '../../types/signedMessage.ts'
import type { BlockMsg } from './blockMsg.ts'
import { GossipError } from './errors.ts'
import { FETCH_TOGETHER, GATHER_RETRY_MS, MAX_BLOCK_MESSAGES_BYTES, TAKE_OVER_MS } from './limits.ts'

const DIGEST_BYTES = 32

/** The three places that messages come from: the store, peers by CID, the chain exchange. */
export interface GatherDeps {
  readonly blocks: Blockstore
  /** Where to ask for what is not at hand; undefined: only wait for it. */
  readonly source: BlockSource | undefined
  /** Asks for all messages of a block: the chain exchange. Undefined: it is not to be had. */
  readonly whole?: ((block: BlockMsg, signal: AbortSignal) => Promise<BlockMessages>) | undefined
  readonly timers: Timers
  readonly log: Logger
}

/**
 * Goes on until everything is there or the signal ends it: messages may come by gossip meanwhile.
 * @param onProgress - messages came
 * @throws GossipError `MESSAGE_CID_INVALID`, `MESSAGES_TOO_LARGE`; CodecError when a CID names no message; the signal's
 *   reason
 */
export async function gatherMessages(
  block: BlockMsg,
  deps: GatherDeps,
  signal: AbortSignal,
  onProgress: () => void = () => undefined,
): Promise<BlockMessages> {
  assertMessageCids(block.blsMessages)
  assertMessageCids(block.secpkMessages)
  const found = new FoundBlocks(block, onProgress)
  found.takeFrom(deps.blocks)
  const over = new AbortController()
  const stop = whenAborted(signal, () => over.abort(signal.reason))
  try {
    if (found.missing.length > 0) {
      const ways = [wait, askOneByOne, askForAll].map((way) => way(block, found, deps, over.signal))
      const messages = await Promise.race(ways)
      for (const way of ways) way.catch(() => undefined)
      if (messages !== undefined) return messages
    }
  } finally {
    stop()
    over.abort(new GossipError('MESSAGES_MISSING', 'the block is whole'))
  }
  return {
    bls: block.blsMessages.map((cid) => found.decoded(cid, message, messageCid)),
    signed: block.secpkMessages.map((cid) => found.decoded(cid, signedMessage, signedCid)),
  }
}

/** One way to the messages: ends with them, with nothing when `found` has them, or with the signal's reason. */
type Way = (
  block: BlockMsg,
  found: FoundBlocks,
  deps: GatherDeps,
  signal: AbortSignal,
) => Promise<BlockMessages | undefined>

/** What came by gossip is in the store. */
const wait: Way = async (_block, found, deps, signal) => {
  for (;;) {
    await sleep(deps.timers, GATHER_RETRY_MS, signal)
    found.takeFrom(deps.blocks)
    if (found.missing.length === 0) return undefined
  }
}

const askOneByOne: Way = async (_block, found, deps, signal) => {
  for (;;) {
    // A few at a time, so that those that one answer lacks do not keep the others waiting.
    const missing = [...found.missing]
    const parts = Array.from({ length: Math.ceil(missing.length / FETCH_TOGETHER) }, (_, i) =>
      missing.slice(i * FETCH_TOGETHER, (i + 1) * FETCH_TOGETHER),
    )
    await Promise.all(parts.map((cids) => askFor(cids, found, deps, signal)))
    if (found.missing.length === 0) return undefined
    await sleep(deps.timers, GATHER_RETRY_MS, signal)
  }
}

const askForAll: Way = async (block, _found, { whole, timers, log }, signal) => {
  for (;;) {
    await sleep(timers, TAKE_OVER_MS, signal)
    if (whole === undefined) continue
    try {
      return await whole(block, signal)
    } catch (error) {
      signal.throwIfAborted()
      log.debug('gossip: block not fetched', { error: errorMessage(error) })
    }
  }
}

/** CIDs of another kind would make us fetch, and hash, what no message is. */
function assertMessageCids(cids: readonly Cid[]): void {
  const names = new Set<string>()
  for (const cid of cids) {
    const { version, codec, hashCode, digest, key } = cid
    const isMessage =
      version === 1 && codec === CODEC_DAG_CBOR && hashCode === HASH_BLAKE2B_256 && digest.length === DIGEST_BYTES
    if (!isMessage) throw new GossipError('MESSAGE_CID_INVALID', `invalid msg CID: ${cid}`)
    names.add(key)
  }
  if (names.size !== cids.length)
    throw new GossipError('MESSAGE_CID_INVALID', "duplicate CIDs among a block's messages")
}

/** Bytes of a block's messages as they come in. */
class FoundBlocks {
  missing: readonly Cid[]
  readonly #onProgress: () => void
  readonly #found = new Map<string, Uint8Array>()
  #bytes = 0

  constructor(block: BlockMsg, onProgress: () => void) {
    this.missing = [...block.blsMessages, ...block.secpkMessages]
    this.#onProgress = onProgress
  }

  takeFrom(store: Blockstore): void {
    for (const cid of this.missing) {
      const data = store.get(cid)
      if (data !== undefined) this.#add(cid, data)
    }
    this.#recount()
  }

  /** Blocks of a stranger: those that were asked for, and are what their CID says. */
  take(blocks: readonly (readonly [Cid, Uint8Array])[]): void {
    const wanted = new Set(this.missing.map((cid) => cid.key))
    for (const [cid, data] of blocks) if (wanted.has(cid.key) && isBlockOf(cid, data)) this.#add(cid, data)
    this.#recount()
  }

  /**
   * A message, from the very bytes that it encodes to: the lists of a block could not be made again from others, and who
   * passed the block on would be blamed for that.
   */
  decoded<T>(cid: Cid, codec: Codec<T>, cidOf: (value: T) => Cid): T {
    const value = decode(codec, this.#found.get(cid.key) as Uint8Array)
    if (cidOf(value).equals(cid)) return value
    throw new GossipError('MESSAGE_CID_INVALID', `message ${cid} is not in its only form`)
  }

  #add(cid: Cid, data: Uint8Array): void {
    if (this.#found.has(cid.key)) return
    this.#bytes += data.length
    if (this.#bytes > MAX_BLOCK_MESSAGES_BYTES) {
      throw new GossipError('MESSAGES_TOO_LARGE', `a block's messages take more than ${MAX_BLOCK_MESSAGES_BYTES} bytes`)
    }
    this.#found.set(cid.key, data)
  }

  #recount(): void {
    const before = this.missing.length
    this.missing = this.missing.filter((cid) => !this.#found.has(cid.key))
    if (this.missing.length < before) this.#onProgress()
  }
}

/** CID of the signed form, whatever its signature: a BLS one does not belong in that list. */
function signedCid(value: SignedMessage): Cid {
  return blockCid(encode(signedMessage, value))
}

async function askFor(
  cids: readonly Cid[],
  found: FoundBlocks,
  { source, log }: GatherDeps,
  signal: AbortSignal,
): Promise<void> {
  if (source === undefined || cids.length === 0) return
  try {
    found.take(await source.fetch(cids, signal))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof GossipError) throw error
    log.debug('gossip: messages not fetched', { count: cids.length, error: errorMessage(error) })
  }
}
