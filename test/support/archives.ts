/** Archives of the shared folder, opened. */

import type { ArchiveStore } from '../../src/archive/carStore.ts'
import { openArchive } from '../../src/archive/openArchive.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { getCbor } from '../../src/ipld/blockstore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import type { Network } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { type BlockHeader, blockHeader } from '../../src/types/blockHeader.ts'
import { listShared, missingShared, readShared, readSharedText } from './shared.ts'

/** Names of the recorded chains with recorded answers; none where the data are missing. */
export function goldenChains(): string[] {
  if (missingShared('data/golden') !== undefined) return []
  return listShared('data/golden').filter((name) => missingShared(`data/golden/${name}/chain.jsonl.zst`) === undefined)
}

/** An archive below `data/`, unverified: tests of verification open it themselves. */
export function openShared(path: string): ArchiveStore {
  return openArchive(memorySource(readShared(`data/${path}`)), { verify: 'never', nodes: new NodeCache() })
}

/** A recorded chain's archive and network. */
export function openGolden(chain: string): { store: ArchiveStore; network: Network } {
  return {
    store: openShared(`golden/${chain}/chain.car.zst`),
    network: parseNetwork(parseJson(readSharedText(`data/golden/${chain}/network.json`))),
  }
}

/** Header of the first root of an archive. */
export function headHeader(store: ArchiveStore): BlockHeader {
  return getCbor(store, blockHeader, store.roots[0] as Cid)
}
