/** The thread of the machine: what {@link startVmThread} starts. */
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { ChainView } from '../../src/chain/chainView.ts'
import { LocalVmHost } from '../../src/chain/localVmHost.ts'
import { serveVm } from '../../src/chain/vmServer.ts'
import { beaconRound } from '../../src/consensus/drandBeacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { ModuleCache } from '../../src/fvm/wasm/moduleCache.ts'
import { type Blockstore, LayeredBlockstore } from '../../src/ipld/blockstore.ts'
import { NodeCache } from '../../src/ipld/nodeCache.ts'
import { openArchive } from '../../src/ipld/openArchive.ts'
import { actorsCode } from '../../src/node/actorsCode.ts'
import { proofsOf } from '../../src/node/proofs.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { ActorBundles } from '../actorBundles.ts'
import { InstrumentedFiles } from '../instrumentedFiles.ts'
import type { VmThreadOptions } from '../vmThreads.ts'
import { openFileSource } from './fileSource.ts'
import { LmdbEnvironment } from './lmdbStore.ts'
import { createLogger } from './logger.ts'
import { nativeZstd } from './zstd.ts'

function readable({ chain, archive }: VmThreadOptions): Blockstore | undefined {
  const nodes = new NodeCache()
  const layers: Blockstore[] = []
  if (chain !== undefined) layers.push(new LmdbEnvironment({ path: chain, nodes }).blocks)
  // The node verified it when it opened it.
  if (archive !== undefined) layers.push(openArchive(openFileSource(archive), { zstd: nativeZstd, verify: 'never' }))
  const [first, ...others] = layers
  return first === undefined ? undefined : new LayeredBlockstore([first, ...others], nodes)
}

const port = parentPort
const options = workerData as VmThreadOptions
if (port !== null) {
  await initCrypto()
  const bundles = options.actors === undefined ? undefined : new ActorBundles(options.actors)
  const disk = options.actors === undefined ? undefined : new InstrumentedFiles(join(options.actors, 'instrumented'))
  const modules = new ModuleCache(disk)
  serveVm(
    {
      post: (message) => port.postMessage(message, [message.buffer as ArrayBuffer]),
      onMessage: (listener) => port.on('message', listener),
    },
    {
      blocks: readable(options),
      log: createLogger({ level: 'warn', format: process.env.PETREL_LOG_FORMAT === 'json' ? 'json' : 'text' }),
      createHost: (store, network) => {
        const genesis = firstBlock(store.genesis()).timestamp
        const view = new ChainView({ store, network, beaconRound: (epoch) => beaconRound(network, genesis, epoch) })
        // Bundles first: the chain's blocks would be asked of the node.
        const blocks: Blockstore = {
          get: (cid) => bundles?.code(cid) ?? store.blocks.get(cid),
          has: (cid) => store.blocks.has(cid),
          put: (cid, data) => store.blocks.put(cid, data),
        }
        const codeLoaders = actorsCode({ network, blocks, bundles: undefined, mode: options.mode, modules })
        return new LocalVmHost({ view, proofs: proofsOf(network), codeLoaders })
      },
    },
  )
}
