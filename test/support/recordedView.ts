/** A recorded chain opened for reading: store, view and the machine without actors' code. */

import { zstdDecompressSync } from 'node:zlib'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Logger } from '../../src/base/ports.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { LocalVmHost } from '../../src/chain/localVmHost.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { openArchive } from '../../src/ipld/openArchive.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { readShared, readSharedText } from './shared.ts'

/** Says nothing. */
export const silentLog: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Opens `data/golden/<chain>`; writes go to memory. */
export function openRecordedView(chain: string): { view: ChainView; vm: LocalVmHost } {
  const network = parseNetwork(parseJson(readSharedText(`data/golden/${chain}/network.json`)))
  const archive = openArchive(memorySource(zstdDecompressSync(readShared(`data/golden/${chain}/chain.car.zst`))))
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive])
  const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: archive.roots })
  const view = new ChainView({ store, network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) })
  return { view, vm: new LocalVmHost({ view, proofs: acceptAllProofs, codeLoaders: () => () => undefined }) }
}
