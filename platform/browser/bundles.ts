/** Builtin-actors bundles of a tab: given once, kept in IndexedDB, every block checked against its CID. */
import { entries, set } from 'idb-keyval'
import { carBlocks, readCarHeader } from '../../src/archive/car.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { CODEC_RAW, parseCid } from '../../src/codec/cid.ts'
import { type Blockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { isBlockOf } from '../../src/ipld/verifyBlock.ts'
import { readAll } from './byteSources.ts'
import type { Database } from './database.ts'
import { BrowserError } from './errors.ts'
import type { BytesFrom } from './nodeOptions.ts'

/** Reads a bundle into `blocks`. @returns the CID of its manifest, as text */
function readBundle(car: Uint8Array, blocks: Blockstore): string {
  const source = memorySource(car)
  const [root, ...others] = readCarHeader(source).roots
  if (root === undefined || others.length > 0) throw invalid('expected one root, the manifest')
  let modules = 0
  for (const [cid, data] of carBlocks(source)) {
    if (!isBlockOf(cid, data)) throw invalid(`block ${cid.toString()} does not hash to its CID`)
    if (cid.codec === CODEC_RAW) modules++
    blocks.put(cid, data)
  }
  if (modules === 0) throw invalid('no actor code is in it')
  if (!blocks.has(root)) throw invalid('its root is not in it')
  return root.toString()
}

/**
 * The blocks of all bundles of a database, with new ones.
 * @throws BrowserError `BUNDLE_INVALID`, `FILE_UNREADABLE`; IpldError, CodecError when one is no archive
 */
export async function openBundles(database: Database, added: readonly BytesFrom[] = []): Promise<MemoryBlockstore> {
  const blocks = new MemoryBlockstore()
  for (const from of added) {
    const car = await readAll(from)
    await set(readBundle(car, blocks), car, database.use('actors', 'strict'))
  }
  for (const [manifest, car] of await entries<string, Uint8Array>(database.use('actors'))) {
    if (!blocks.has(parseCid(manifest))) readBundle(car, blocks)
  }
  return blocks
}

function invalid(reason: string): BrowserError {
  return new BrowserError('BUNDLE_INVALID', `Cannot use the actors bundle: ${reason}`)
}
