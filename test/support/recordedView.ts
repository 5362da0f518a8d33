/** A recorded chain opened for reading: store, view and the machine, with the actors' code where it is at hand. */

import { zstdDecompressSync } from 'node:zlib'
import { CarStore } from '../../src/archive/carStore.ts'
import { openArchive } from '../../src/archive/openArchive.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Logger } from '../../src/base/ports.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { CachingVmHost } from '../../src/execution/cachingVmHost.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { actorsVersionFor, type Network, networkVersionAt } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { missingBundle, readBundle } from './actors.ts'
import { readShared, readSharedText } from './shared.ts'

/** Beyond the end of every recorded chain. */
const LAST_EPOCH = 900

/** Says nothing. */
export const silentLog: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** The actors version of a network's last upgrade before the one that nobody has reached. */
function latestActors(network: Network): number {
  return actorsVersionFor(networkVersionAt(network, LAST_EPOCH))
}

/**
 * Opens `data/golden/<chain>`; writes go to memory.
 * @returns `executes`: the actors' bundle is on this machine, so messages can be run
 */
export function openRecordedView(chain: string): { view: ChainView; vm: VmHost; executes: boolean } {
  const network = parseNetwork(parseJson(readSharedText(`data/golden/${chain}/network.json`)))
  const archive = openArchive(memorySource(zstdDecompressSync(readShared(`data/golden/${chain}/chain.car.zst`))))
  const manifests = network.manifests.filter(({ actorsVersion }) => actorsVersion === latestActors(network))
  const bundles = manifests
    .map(({ manifestCid }) => manifestCid.toString())
    .filter((manifest) => missingBundle(manifest) === undefined)
    .map((manifest) => new CarStore(memorySource(readBundle(manifest)), { verify: 'never' }))
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive, ...bundles])
  const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: archive.roots })
  const view = new ChainView({ store, network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) })
  return {
    view,
    vm: new CachingVmHost(
      store,
      new LocalVmHost({ view, proofs: acceptAllProofs, codeLoaders: createCodeLoaders({ blocks }) }),
    ),
    executes: bundles.length > 0,
  }
}
