/**
 * A tipset's messages as the chain exchange has them: each once, in order of first use, and which block has which.
 * @see lotus chain/exchange/server.go gatherMessages; protocol.go toFullTipSets; client.go validateCompressedIndices
 */
import { errorMessage } from '../../base/errors.ts'
import { type BlockMessages, blockMessageCids, storeBlockMessages } from '../../chain/blockMessages.ts'
import { CborWriter } from '../../codec/cborWriter.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Blockstore, getBlock, MemoryBlockstore } from '../../ipld/blockstore.ts'
import type { BlockHeader } from '../../types/blockHeader.ts'
import type { Tipset } from '../../types/tipset.ts'
import { P2pError } from '../errors.ts'
import type { CompactedMessages } from './messages.ts'

/** First bytes of a message and of a signed one: arrays of 10 and of 2. */
const MESSAGE_START = 0x8a
const SIGNED_START = 0x82
/** First size of the buffer for a tipset's messages, bytes. */
const BUFFER_BYTES = 4096

/** One of the two lists. */
class Collected {
  readonly cids: Cid[] = []
  readonly includes: number[][] = []
  readonly #indices = new Map<string, number>()

  addBlock(cids: readonly Cid[]): void {
    this.includes.push(
      cids.map((cid) => {
        const known = this.#indices.get(cid.key)
        if (known !== undefined) return known
        this.#indices.set(cid.key, this.cids.length)
        return this.cids.push(cid) - 1
      }),
    )
  }

  write(writer: CborWriter, store: Blockstore, start: number): void {
    writer.array(this.cids.length)
    this.cids.forEach((cid, i) => {
      writer.raw(storedMessage(store, cid, start, i))
    })
    writer.array(this.includes.length)
    for (const indices of this.includes) {
      writer.array(indices.length)
      for (const index of indices) writer.uint(index)
    }
  }
}

function storedMessage(store: Blockstore, cid: Cid, start: number, index: number): Uint8Array {
  try {
    const data = getBlock(store, cid)
    // The stored bytes are the encoding: only what is no message at all must not be handed on.
    if (data[0] !== start) throw new P2pError('BAD_ANSWER', 'cbor input had wrong number of fields')
    return data
  } catch (error) {
    const text = `failed to get message: (${cid}):${index}: ${errorMessage(error)}`
    throw new P2pError('BAD_ANSWER', text, {}, { cause: error })
  }
}

/**
 * CBOR of a tipset's compacted messages, out of the store.
 * @throws what reading the lists throws; P2pError with Lotus' text
 */
export function compactedMessagesCbor(store: Blockstore, blocks: readonly BlockHeader[]): Uint8Array {
  const bls = new Collected()
  const secpk = new Collected()
  for (const block of blocks) {
    const cids = messageCids(store, block.messages)
    bls.addBlock(cids.bls)
    secpk.addBlock(cids.signed)
  }
  const writer = new CborWriter(BUFFER_BYTES)
  writer.array(4)
  bls.write(writer, store, MESSAGE_START)
  secpk.write(writer, store, SIGNED_START)
  return writer.finish()
}

function messageCids(store: Blockstore, meta: Cid): { bls: Cid[]; signed: Cid[] } {
  try {
    return blockMessageCids(store, meta)
  } catch (error) {
    const text = `failed to load msgmeta (${meta}): ${errorMessage(error)}`
    throw new P2pError('BAD_ANSWER', text, {}, { cause: error })
  }
}

/**
 * The messages of each block of a tipset.
 * @throws P2pError `BAD_ANSWER` when the includes do not fit the blocks or the messages
 */
export function expandMessages(compacted: CompactedMessages, blocks: number): BlockMessages[] {
  const { blsIncludes, secpkIncludes } = compacted
  if (blsIncludes.length !== blocks || secpkIncludes.length !== blocks) {
    const text = `includes (${blsIncludes.length}, ${secpkIncludes.length}) do not match number of blocks (${blocks})`
    throw new P2pError('BAD_ANSWER', text)
  }
  return blsIncludes.map((indices, i) => ({
    bls: pick(compacted.bls, indices),
    signed: pick(compacted.secpk, secpkIncludes[i] as number[]),
  }))
}

function pick<T>(messages: readonly T[], indices: readonly number[]): T[] {
  return indices.map((index) => {
    const message = messages[index]
    if (message === undefined) {
      throw new P2pError('BAD_ANSWER', `index in includes (${index}) exceeds number of messages (${messages.length})`)
    }
    return message
  })
}

/** @throws P2pError `BAD_ANSWER` unless the lists of every block have the roots that its header names */
export function checkMessageRoots(tipset: Tipset, messages: readonly BlockMessages[]): void {
  const scratch = new MemoryBlockstore()
  tipset.blocks.forEach((block, i) => {
    const root = storeBlockMessages(scratch, messages[i] as BlockMessages)
    if (!root.equals(block.messages)) {
      throw new P2pError('BAD_ANSWER', `messages of block ${i} at height ${tipset.height} have another root`)
    }
  })
}
