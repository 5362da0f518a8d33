/** The two maps that have an entry for each actor, built in the order of their hashes: addresses to IDs, IDs to actors. */
import { HashSorter } from '../../../src/archive/hashSorter.ts'
import type { OpenScratch } from '../../../src/archive/scratchFile.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { encode, u64 } from '../../../src/codec/description.ts'
import { sha256 } from '../../../src/crypto/hashes.ts'
import type { Blockstore } from '../../../src/ipld/blockstore.ts'
import { bulkHamt, type HashedEntry } from './bulkHamt.ts'

/** Keys held in memory while they are sorted: 24 bytes each. */
const RUN = 1 << 18

/** One entry: `raw` is asked for when it is written. */
export interface TreeEntry {
  readonly key: Uint8Array
  readonly raw: () => Uint8Array
}

function words(hash: Uint8Array): { high: number; low: number } {
  const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength)
  return { high: view.getUint32(0), low: view.getUint32(4) }
}

/**
 * Writes a map of any number of entries.
 * @param numbers - of all entries
 * @param entry - that of a number; asked twice
 * @returns the root
 */
export function writeTree(
  store: Blockstore,
  openScratch: OpenScratch,
  numbers: Iterable<number>,
  entry: (number: number) => TreeEntry,
): Cid {
  const sorter = new HashSorter(openScratch, RUN)
  try {
    for (const number of numbers) {
      const { high, low } = words(sha256(entry(number).key))
      sorter.add(high, low, number)
    }
    return bulkHamt(store, sortedEntries(sorter, entry))
  } finally {
    sorter.close()
  }
}

function* sortedEntries(sorter: HashSorter, entry: (number: number) => TreeEntry): Generator<HashedEntry> {
  const sorted = sorter.sorted()
  while (sorted.next()) {
    const { key, raw } = entry(sorted.offset)
    yield { hash: sha256(key), key, raw: raw() }
  }
}

/** CBOR of an ID as a map's value. */
export function idBytes(id: number): Uint8Array {
  return encode(u64, BigInt(id))
}
