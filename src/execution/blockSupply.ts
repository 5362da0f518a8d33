/**
 * Blocks for a thread that could not read them, with what they link to: a state is hundreds of blocks, and every further
 * question for one would run the execution again from its start.
 */

import { MAX_SUPPLY_BLOCKS, MAX_SUPPLY_BYTES } from '../chain/limits.ts'
import { type Cid, CODEC_CBOR, CODEC_DAG_CBOR } from '../codec/cid.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { scanLinks } from '../ipld/links.ts'
import type { SentNames } from './sentNames.ts'
import type { SentBlock } from './vmMessages.ts'

/**
 * The blocks of `cids`, then those that they link to, nearest first, as far as the store has them and the bounds allow.
 * @param sent - keys of blocks that went before: not sent or followed again unless asked for by name; grows
 */
export function supplyBlocks(
  store: Blockstore,
  cids: readonly Cid[],
  sent: Pick<SentNames, 'add' | 'has'>,
): SentBlock[] {
  const out: SentBlock[] = []
  const seen = new Set(cids.map((cid) => cid.key))
  const queue = [...cids]
  let bytes = 0
  for (let i = 0; i < queue.length && out.length < MAX_SUPPLY_BLOCKS && bytes < MAX_SUPPLY_BYTES; i++) {
    const cid = queue[i] as Cid
    if (i >= cids.length && sent.has(cid.key)) continue
    const data = cid.isIdentity ? undefined : store.get(cid)
    if (data === undefined) continue
    out.push([cid, data])
    sent.add(cid.key)
    bytes += data.length
    if (cid.codec !== CODEC_DAG_CBOR && cid.codec !== CODEC_CBOR) continue
    for (const link of scanLinks(data)) {
      if (seen.has(link.key)) continue
      seen.add(link.key)
      queue.push(link)
    }
  }
  return out
}
