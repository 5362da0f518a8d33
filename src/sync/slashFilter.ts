/**
 * Blocks that producers handed in here, so that a second one which would cost its producer a penalty is noticed while it is still
 * nobody else's: two nodes that mine for one producer, or one that has forgotten what it did.
 *
 * Keys: `sync/mined/epoch/`, the miner, the epoch (8 bytes, big-endian); `sync/mined/parents/`, the miner, the digest of the parents'
 * key. Values: the block's CID. As in Lotus they stay: two rows for each block that a producer of this node has won.
 *
 * @see lotus chain/gen/slashfilter/slashfilter.go SlashFilter
 */
import { concatBytes, utf8 } from '../base/bytes.ts'
import type { KeyValueStore } from '../base/ports.ts'
import { type Cid, cidFromBytes } from '../codec/cid.ts'
import type { Address } from '../types/address.ts'
import { type BlockHeader, headerCid } from '../types/blockHeader.ts'
import type { ChainEpoch } from '../types/scalars.ts'
import { tipsetKeyCid } from '../types/tipset.ts'

const BY_EPOCH = utf8('sync/mined/epoch/')
const BY_PARENTS = utf8('sync/mined/parents/')
const EPOCH_BYTES = 8

function epochKey(miner: Address, epoch: ChainEpoch): Uint8Array {
  const bytes = new Uint8Array(EPOCH_BYTES)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(epoch))
  return concatBytes(BY_EPOCH, miner.bytes, bytes)
}

/** Remembers blocks by who made them. */
export class SlashFilter {
  readonly #meta: KeyValueStore

  constructor(meta: KeyValueStore) {
    this.#meta = meta
  }

  /**
   * Takes note of a block, at once, unless it makes a consensus fault with one that came before: two of a miner in an epoch or on the
   * same parents, or one that passes by the miner's own in the epoch of its parents.
   * @returns the block that it makes a fault with
   * @see lotus chain/gen/slashfilter/slashfilter.go SlashFilter.MinedBlock
   */
  mined(header: BlockHeader, parentEpoch: ChainEpoch): Cid | undefined {
    const { miner, height, parents } = header
    const cid = headerCid(header)
    const keys = [epochKey(miner, height), concatBytes(BY_PARENTS, miner.bytes, tipsetKeyCid(parents).digest)]
    for (const key of keys) {
      const other = this.#block(key)
      if (other !== undefined && !other.equals(cid)) return other
    }
    const own = this.#block(epochKey(miner, parentEpoch))
    if (own !== undefined && !parents.some((parent) => parent.equals(own))) return own
    this.#meta.batch(keys.map((key) => ({ op: 'put', key, value: cid.bytes })))
    return undefined
  }

  #block(key: Uint8Array): Cid | undefined {
    const bytes = this.#meta.get(key)
    return bytes === undefined ? undefined : cidFromBytes(bytes)
  }
}
